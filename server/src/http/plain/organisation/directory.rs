//! The organisation as it is set: its pools, and its teams in pages that a large organisation can read.

use app::format::as_set;
use app::plain::organisation::{Cell, Listing, OverviewPage, Search, overview};
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::money::MicroCredits;

use super::super::{AppState, Plain};
use super::{factor, link, pool_name, retire, shows};
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::{Setup, Team};

/// Teams on a page.
const TEAMS_SHOWN: usize = 500;

/// Words to search teams by; the name is the one that `assets/tables.js` gives to a search in the list of teams, so
/// that a link means the same with and without scripts.
const FIND: &str = "teams.find";

/// The team that the page before ended with.
const AFTER: &str = "after";

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/organisation", get(page))
}

async fn page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let asked = |name: &str| {
        let mut fields = form_urlencoded::parse(query.as_bytes());
        fields.find(|(field, _)| field == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let asked = Asked { find: asked(FIND), after: asked(AFTER) };
    match plain.state().services().setup(&viewer).await {
        Ok((setup, cycle)) => {
            let page = all_pools_and_teams(&viewer, &setup, cycle, asked);
            plain.ok("Organisation", || overview(page))
        }
        Err(error) => plain.problem(&error),
    }
}

/// Which teams are asked for.
struct Asked {
    find: String,
    after: String,
}

/// The teams of a page, and the id of the last one where others follow.
fn chosen<'a>(setup: &'a Setup, asked: &Asked) -> (Vec<&'a Team>, Option<&'a str>) {
    let words: Vec<String> = asked.find.split_whitespace().map(str::to_lowercase).collect();
    let found = |team: &&Team| {
        let text = format!("{} {}", team.name, pool_name(setup, &team.pool)).to_lowercase();
        !team.archived && words.iter().all(|word| text.contains(word))
    };
    let mut teams: Vec<&Team> = setup.teams.iter().filter(found).collect();
    // In order of ids, so that a page goes on where the one before ended, whatever was added or archived since.
    teams.sort_unstable_by_key(|team| team.id.as_str());
    teams.drain(..teams.partition_point(|team| team.id.as_str() <= asked.after.as_str()));
    let more = teams.len() > TEAMS_SHOWN;
    teams.truncate(TEAMS_SHOWN);
    let last = teams.last().filter(|_| more).map(|team| team.id.as_str());
    (teams, last)
}

fn all_pools_and_teams(viewer: &Viewer, setup: &Setup, cycle: u64, asked: Asked) -> OverviewPage {
    let (teams, last) = chosen(setup, &asked);
    let pool_rows = setup.pools.iter().filter(|pool| !pool.archived).map(|pool| {
        let teams = setup.teams.iter().filter(|team| team.pool == pool.id && !team.archived);
        let income = teams.clone().fold(0_i64, |sum, team| sum.saturating_add(team.income.0));
        vec![
            Cell::Links(vec![link(format!("/organisation/pools/{}", pool.id), pool.name.clone())]),
            Cell::Number(pool.weight.to_string()),
            Cell::Number(MicroCredits(income).to_string()),
            Cell::Number(teams.count().to_string()),
        ]
    });
    let team_rows = teams.into_iter().map(|team| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", team.id), team.name.clone())]),
            Cell::Text(pool_name(setup, &team.pool)),
            Cell::Number(team.income.to_string()),
            Cell::Number(factor(team.leverage_thousandths)),
        ]
    });
    let mut actions = Vec::new();
    if viewer.can(Action::SetOrganisation, Object::Organisation) {
        actions.push(link("/organisation/pools/new", "Add a pool"));
    }
    if setup.pools.iter().any(|pool| !pool.archived && viewer.can(Action::SetIncome, Object::Pool(&pool.id)))
    {
        actions.push(link("/organisation/teams/new", "Add a team"));
    }
    let mut page = OverviewPage {
        path: "/organisation".to_owned(),
        shows: shows(viewer),
        actions,
        listings: vec![
            Listing {
                caption: "Pools".to_owned(),
                columns: vec![
                    ("Pool", "", false),
                    ("Weight", "global credits per hour", true),
                    ("Income of its teams", "local credits per hour", true),
                    ("Teams", "", true),
                ],
                rows: pool_rows.collect(),
                empty: "There is no pool yet.",
            },
            Listing {
                caption: "Teams".to_owned(),
                columns: vec![
                    ("Team", "", false),
                    ("Pool", "", false),
                    ("Income", "local credits per hour", true),
                    ("Leverage", "times income", true),
                ],
                rows: team_rows.collect(),
                empty: match asked.find.trim() {
                    "" => "There is no team yet. Add one to a pool.",
                    _ => "No team is found by these words.",
                },
            },
            retire::chip_types(viewer, setup),
        ],
        notes: vec![
            as_set(cycle),
            "Pools, teams and chip types stay, for their history and their money. What is not needed any more is archived \
             or retired."
                .to_owned(),
        ],
        next: last.map(|last| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair(AFTER, last);
            if !asked.find.is_empty() {
                query.append_pair(FIND, &asked.find);
            }
            link(format!("/organisation?{}", query.finish()), "More teams")
        }),
        ..OverviewPage::default()
    };
    let is_long = setup.teams.len() > TEAMS_SHOWN;
    page.search = is_long.then_some(Search { label: "Find teams", name: FIND, words: asked.find });
    page.listings.extend(retire::archived(setup));
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::entities::{Organisation, Pool};

    /// An organisation of two pools, with every second team in each, the first of them archived.
    fn setup(teams: usize) -> Setup {
        let pool = |name: &str| Pool {
            id: name.to_lowercase().parse().unwrap(),
            name: name.to_owned(),
            weight: MicroCredits(1),
            lending: market::snapshot::Lending::All,
            archived: false,
        };
        let pools = vec![pool("Research"), pool("Products")];
        let team = |nth: usize| Team {
            id: format!("t{nth:05}").parse().unwrap(),
            pool: pools[nth % 2].id.clone(),
            name: format!("Team {nth}"),
            income: MicroCredits(1),
            leverage_thousandths: 2_000,
            archived: nth == 0,
        };
        let teams = (0..teams).rev().map(team).collect();
        Setup {
            organisation: Organisation::default(),
            chip_types: Vec::new(),
            pools,
            owned: Vec::new(),
            teams,
        }
    }

    fn asked(find: &str, after: &str) -> Asked {
        Asked { find: find.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn every_team_stands_on_one_page() {
        let setup = setup(1_203);
        let (mut after, mut seen) = (String::new(), Vec::new());
        loop {
            let (teams, last) = chosen(&setup, &asked("", &after));
            assert!(teams.len() <= TEAMS_SHOWN);
            seen.extend(teams.iter().map(|team| team.id.to_string()));
            let Some(last) = last else { break };
            after = last.to_owned();
        }
        assert_eq!(seen, (1..1_203).map(|nth| format!("t{nth:05}")).collect::<Vec<_>>());
    }

    #[test]
    fn words_find_names_and_pools() {
        let setup = setup(60);
        let names = |find| -> Vec<&str> {
            chosen(&setup, &asked(find, "")).0.into_iter().map(|team| team.name.as_str()).collect()
        };
        assert_eq!(names("research 42"), ["Team 42"]);
        assert_eq!(names("PRODUCTS").len(), 30);
        assert!(names("nobody").is_empty());
    }
}
