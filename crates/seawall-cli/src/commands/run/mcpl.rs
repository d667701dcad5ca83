//! What servers of MCP Live do, as lines.

use seawall::Hidden;
use seawall::client::{McplEvent, Said};
use seawall::mcpl::CapabilitySet;
use seawall::mcpl::callbacks::Reception;
use seawall::mcpl::manifest::Receipt;
use seawall::mcpl::session::{Outcome, Policy};
use serde::Serialize;

use super::line::Weight;
use crate::commands::mcpl::policy_words;

/// What a line of MCP Live has beside what every line has.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Live {
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduced: Option<CapabilitySet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expanded: Option<CapabilitySet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What became of what the server said.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    defect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<u64>,
}

/// One line: its event, its words, what it weighs, and what is in it. Remote text stands in the words as it is.
pub(super) struct Told {
    pub(super) event: &'static str,
    pub(super) words: String,
    pub(super) weight: Weight,
    pub(super) live: Live,
}

impl Told {
    pub(super) fn of(event: &McplEvent) -> Self {
        match event {
            McplEvent::Policy(policy) => Self::policy(*policy),
            McplEvent::Grant(change) => {
                let mut words = String::from("granted");
                for (sign, set) in [("+", &change.expanded), ("-", &change.reduced)] {
                    for capability in set.iter() {
                        words.push_str(&format!(" {sign}{capability}"));
                    }
                }
                let live = Live {
                    reduced: Some(change.reduced.clone()),
                    expanded: Some(change.expanded.clone()),
                    ..Live::default()
                };
                Self::new("grant", words, Weight::Usual, live)
            }
            McplEvent::Pushed(said) => {
                let words = format!("push of {}", said.from.reveal());
                let live = Live {
                    feature_set: Some(revealed(&said.from)),
                    ..Live::of(said)
                };
                Self::said("push", words, said, live)
            }
            McplEvent::Message(said) => {
                let author = said.author.as_ref().map(Hidden::reveal).unwrap_or_default();
                let words = format!("{author} in {}", said.from.reveal());
                let live = Live {
                    channel: Some(revealed(&said.from)),
                    ..Live::of(said)
                };
                Self::said("message", words, said, live)
            }
            McplEvent::Channels => {
                let words = "its channels changed".to_owned();
                Self::new("channels_changed", words, Weight::Usual, Live::default())
            }
            McplEvent::Manifest(receipt) => Self::manifest(receipt),
            McplEvent::Defect(defect) => {
                let live = Live {
                    defect: Some(defect.to_string()),
                    ..Live::default()
                };
                Self::new("defect", defect.to_string(), Weight::Usual, live)
            }
            McplEvent::Withheld(count) => {
                let words = format!("{count} more events of it are not shown: there are too many");
                let live = Live {
                    withheld: Some(*count),
                    ..Live::default()
                };
                Self::new("withheld", words, Weight::News, live)
            }
            _ => {
                let words = "something happened".to_owned();
                Self::new("other", words, Weight::Usual, Live::default())
            }
        }
    }

    fn policy(policy: Policy) -> Self {
        let (word, refusal) = policy_words(policy);
        let (words, weight) = match (policy, refusal) {
            (_, Some(why)) => (
                format!("it has nothing of MCP Live, as a plain server: {why}"),
                Weight::Bad,
            ),
            (Policy::InForce, None) => (
                "it acknowledged what it is granted".to_owned(),
                Weight::Usual,
            ),
            (Policy::Ended, None) => ("what it was granted is over".to_owned(), Weight::Usual),
            _ => (
                "what it is granted is asked of it".to_owned(),
                Weight::Usual,
            ),
        };
        let live = Live {
            policy: Some(word),
            refusal: refusal.map(|why| why.to_string()),
            ..Live::default()
        };
        Self::new("policy", words, weight, live)
    }

    fn manifest(receipt: &Receipt) -> Self {
        let mut words = String::from("what it offers changed");
        for entry in &receipt.impacts {
            words.push_str(&format!(
                "; {} {} ({})",
                entry.impact.as_str(),
                entry.subject,
                entry.disposition.as_str()
            ));
        }
        let live = Live {
            receipt: Some(receipt.clone()),
            ..Live::default()
        };
        Self::new("manifest_changed", words, Weight::News, live)
    }

    /// Whatever a server says unasked is news, unless it is dropped.
    fn said(event: &'static str, mut words: String, said: &Said, live: Live) -> Self {
        words.push_str(match outcome(&said.outcome) {
            "taken" => ": ",
            "duplicate" => " (which came before): ",
            _ => " (not taken): ",
        });
        words.push_str(said.text.reveal());
        let weight = match outcome(&said.outcome) {
            "taken" => Weight::News,
            _ => Weight::Usual,
        };
        Self::new(event, words, weight, live)
    }

    fn new(event: &'static str, words: String, weight: Weight, live: Live) -> Self {
        Self {
            event,
            words,
            weight,
            live,
        }
    }
}

impl Live {
    fn of(said: &Said) -> Self {
        Self {
            id: Some(revealed(&said.id)),
            author: said.author.as_ref().map(revealed),
            text: Some(revealed(&said.text)),
            outcome: Some(outcome(&said.outcome)),
            ..Self::default()
        }
    }
}

fn revealed(text: &Hidden) -> String {
    text.reveal().to_owned()
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Duplicate => "duplicate",
        Outcome::Received(Reception::Accepted { .. }) => "taken",
        _ => "refused",
    }
}
