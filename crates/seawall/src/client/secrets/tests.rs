use std::sync::Arc;

use http::Method;
use url::Url;

use super::*;
use crate::web::{AuthError, Boxed, Credentials, Refusal, Verdict};

/// Has given out as many secrets as a login remembers, and one that is configured.
#[derive(Debug)]
struct Busy;

impl Authorize for Busy {
    fn credentials<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn refused<'a>(&'a self, _: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        Box::pin(std::future::ready(Ok(Verdict::GiveUp)))
    }

    fn secrets(&self) -> Vec<Secret> {
        (0..20)
            .map(|nth| Secret::new(format!("secret-number-{nth:02}")))
            .collect()
    }
}

/// R1: whatever the order and the number in which a login tells its secrets, none is left out.
#[test]
fn every_secret_that_a_login_tells_is_taken_out() {
    let mut secrets = Secrets::new(
        Redactor::builder().token("static-token"),
        Some(Arc::new(Busy)),
    );
    for nth in 0..20 {
        let text = format!("a secret-number-{nth:02} b static-token c");
        assert_eq!(
            secrets.redactor().redact(&text),
            "a [redacted] b [redacted] c"
        );
    }
}
