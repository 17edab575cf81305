//! Forms that a browser posts to a page without scripts: done first, then answered with a redirect, or with the page and
//! what was typed.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::backend::Backend;
use crate::fields::Fields;
use crate::pages::bids::act::act_on;
use crate::pages::bids::read::Posted;
use crate::pages::bids::reply::{Refused, Reply};

/// The body of a form, in the extensions of a request for the page that it was posted to.
#[derive(Clone, Debug)]
pub struct PostedForm(pub String);

/// Does what a posted form says: a layer of the routes of the pages, inside the layer that puts the `Arc<dyn Backend>`
/// into the request.
pub async fn act_on_posted(mut request: Request, next: Next) -> Response {
    let extensions = request.extensions_mut();
    let (Some(PostedForm(body)), Some(backend)) =
        (extensions.remove::<PostedForm>(), extensions.get::<Arc<dyn Backend>>().cloned())
    else {
        return next.run(request).await;
    };
    let fields = Fields::parse(&body);
    let address = request.uri().path_and_query().map_or("", |address| address.as_str()).to_owned();
    let posted = match act_on(&*backend, &address, fields.clone()).await {
        Ok((_, Some(Reply::Done(done)))) => return see_other(&done.to),
        Ok((fields, reply)) => Posted { fields, reply },
        Err(problem) => {
            let (status, title, detail) = (problem.status, problem.title, problem.detail);
            let refused = Refused { status, title, detail, ..Refused::default() };
            Posted { fields, reply: Some(Reply::Refused(refused)) }
        }
    };
    request.extensions_mut().insert(posted);
    next.run(request).await
}

fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
