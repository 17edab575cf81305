//! Precedence, messages and the default file.

use super::*;

fn with_file(text: &str) -> Result<Config, AppError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, text).unwrap();
    Config::load(&Sources { file: Some(&path), ..Sources::default() })
}

#[test]
fn each_default_is_a_value_that_its_key_takes() {
    for key in keys() {
        let mut config = Config::default();
        assert_eq!((key.set)(&mut config, key.default), Ok(()), "{}", key.name);
    }
}

#[test]
fn the_default_file_uncommented_is_the_default() {
    let lines: Vec<String> = default_file()
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") && !rest.contains("Allowed") => rest.to_owned(),
            _ => line.to_owned(),
        })
        .collect();
    let config = with_file(&lines.join("\n")).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(
        lines.iter().filter(|line| !line.starts_with('#') && line.contains(" = ")).count(),
        keys().count()
    );
}

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, "[server]\nlisten = \"127.0.0.1:1\"\nmax_streams = 5\n[log]\nformat = \"json\"\n")
        .unwrap();
    let config = Config::load(&Sources {
        file: Some(&path),
        environment: vec![
            ("QUOTA_MARKETPLACE_SERVER_LISTEN".to_owned(), "127.0.0.1:2".to_owned()),
            ("QUOTA_MARKETPLACE_SERVER_MAX_STREAMS".to_owned(), "6".to_owned()),
            ("HOME".to_owned(), "/root".to_owned()),
        ],
        flags: vec![("--listen", "server.listen".to_owned(), "127.0.0.1:3".to_owned())],
    })
    .unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.server.max_streams, 6);
    assert_eq!(config.log.format, LogFormat::Json);
}

#[test]
fn an_unknown_key_is_named_with_the_nearest() {
    let error = with_file("[server]\nlisen = \"127.0.0.1:1\"\n").unwrap_err();
    assert!(error.message().contains("\"server.lisen\""), "{error}");
    assert!(error.message().contains("did you mean server.listen?"), "{error}");
    assert_eq!(error.exit_code(), 78);
    assert!(with_file("listen = 1\n").is_err());
    assert!(with_file("[nothing]\nlisten = 1\n").is_err());
}

#[test]
fn a_bad_value_is_named_with_what_is_allowed() {
    for (text, key, allowed) in [
        ("[log]\nformat = \"xml\"", "log.format", "text or json"),
        ("[server]\nmax_streams = 0", "server.max_streams", "from 1 to 100000"),
        ("[server]\nmax_streams = [1]", "server.max_streams", "from 1 to 100000"),
        ("[database]\nurl = \"mysql://x\"", "database.url", "a file's path, sqlite:PATH or postgres://"),
    ] {
        let error = with_file(text).unwrap_err();
        assert!(error.message().contains(key) && error.message().contains(allowed), "{error}");
    }
    let error = with_file("[server\n").unwrap_err();
    assert!(error.message().contains("is not TOML"), "{error}");
}

#[test]
fn a_password_is_never_shown() {
    for (url, shown) in [
        ("postgres://me:hunter2@db:5432/q?password=hunter2", "postgres://me@db:5432/q"),
        ("postgres:///q?host=/run&password=hunter2", "postgres:///q"),
        ("sqlite:q.sqlite", "sqlite:q.sqlite"),
    ] {
        let mut config = Config::default();
        config.apply("database.url", url, &Origin::Flag("--database".to_owned())).unwrap();
        assert_eq!(config.database.shown_url(), shown);
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
