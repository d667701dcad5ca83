//! Changes of what a server offers, under way.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Driven, channel, defects, everything, generous, json_of, push, replies};
use crate::mcpl::capability::Capability;
use crate::mcpl::manifest::MIN_FETCH_INTERVAL;
use crate::mcpl::session::{Act, Answer, Ask, Defect, Notice, Policy};

fn announce(driven: &mut Driven) {
    let params =
        json!({ "revision": format!("sha256:{}", "A".repeat(43)), "domains": ["capabilities"] });
    driven.tell("mcpl/manifestChanged", &params);
}

fn fetches(acts: &[Act<u64>]) -> usize {
    acts.iter()
        .filter(|act| matches!(act, Act::Ask(Ask::Manifest, _)))
        .count()
}

fn answer(driven: &mut Driven, manifest: &Value) {
    let answer = Answer::Result(json_of(manifest));
    driven.session.answered(driven.now, &Ask::Manifest, answer);
}

/// The server announces, and is asked, and says this.
fn changed(driven: &mut Driven, manifest: &Value) {
    announce(driven);
    assert_eq!(fetches(&driven.acts()), 1);
    answer(driven, manifest);
}

fn without(member: &str) -> Value {
    let mut mcpl = everything();
    mcpl.as_object_mut().unwrap().remove(member);
    mcpl
}

/// MCPL §6.7, §17.5: what is gone is gone before the server is told; the receipt is one.
#[test]
fn removals_are_applied_before_the_server_is_told() {
    let mut driven = Driven::in_force(generous(), &everything());
    driven
        .reply_to("channels/register", &json!({ "channels": [channel("a")] }))
        .unwrap();
    changed(&mut driven, &without("channels"));
    assert!(!driven.session.grant().allows(Capability::ChannelsRegister));
    assert!(driven.session.registry().is_empty());
    assert!(driven.session.grant().allows(Capability::PushEvents));
    let acts = driven.acts();
    let at = |wanted: fn(&Act<u64>) -> bool| acts.iter().position(wanted).unwrap();
    let taken = at(|act| matches!(act, Act::Tell(Notice::Grant(_))));
    assert!(taken < at(|act| matches!(act, Act::Ask(Ask::Policy, _))));
    let receipts = acts
        .iter()
        .filter(|act| matches!(act, Act::Tell(Notice::Manifest(_))));
    assert_eq!(receipts.count(), 1);
    let refused = driven.reply_to("channels/list", &json!({})).unwrap_err();
    assert_eq!(refused.0, -32002);
    driven.request("push/event", &push("all", "e"));
    driven.question();
}

/// MCPL §6.7: what is new counts after the receipt, and not if there is none.
#[test]
fn additions_count_after_the_receipt() {
    let mut driven = Driven::in_force(generous(), &without("channels"));
    changed(&mut driven, &everything());
    assert_eq!(driven.session.policy(), Policy::Pending);
    assert!(!driven.session.grant().allows(Capability::ChannelsRegister));
    assert!(
        driven.session.grant().allows(Capability::PushEvents),
        "what is in force stays"
    );
    let told = driven.policy_request();
    assert!(
        told["effectiveCapabilities"]
            .as_array()
            .unwrap()
            .contains(&json!("channels.register"))
    );
    let early = driven.request("channels/list", &json!({}));
    assert!(driven.acts().is_empty(), "it waits for the receipt");
    driven.accept();
    assert!(driven.session.grant().allows(Capability::ChannelsRegister));
    assert_eq!(replies(driven.acts()).remove(0).0, early);
    let mut driven = Driven::in_force(generous(), &without("channels"));
    changed(&mut driven, &everything());
    driven.acts();
    driven
        .session
        .answered(driven.now, &Ask::Policy, Answer::None);
    assert!(driven.session.grant().effective().is_empty());
}

/// MCPL §6.7: a change while an exchange is under way: its removals at once, the rest after the receipt, with another request.
#[test]
fn change_during_an_exchange_waits_for_it() {
    let mut driven = Driven::in_force(generous(), &without("channels"));
    changed(&mut driven, &everything());
    driven.policy_request();
    answer(&mut driven, &without("pushEvents"));
    assert!(!driven.session.grant().allows(Capability::PushEvents));
    assert!(driven.acts().iter().all(|act| !matches!(act, Act::Ask(..))));
    driven.accept();
    assert!(
        driven.session.grant().allows(Capability::ChannelsRegister),
        "told, and still offered"
    );
    assert!(!driven.session.grant().allows(Capability::PushEvents));
    assert_eq!(driven.session.policy(), Policy::Pending);
    let told = driven.policy_request();
    assert!(
        !told["effectiveCapabilities"]
            .as_array()
            .unwrap()
            .contains(&json!("pushEvents"))
    );
    driven.accept();
    assert_eq!(driven.session.policy(), Policy::InForce);
}

/// MCPL §17.8: however often a server announces, it is asked at most once in ten seconds; a flood is told of once.
#[test]
fn announcements_are_rate_limited() {
    let mut driven = Driven::in_force(generous(), &everything());
    changed(&mut driven, &everything());
    driven.acts();
    for _ in 0..1_000 {
        announce(&mut driven);
    }
    let acts = driven.acts();
    assert_eq!(fetches(&acts), 0);
    assert_eq!(defects(&acts), [Defect::Announcements]);
    let due = driven.session.poll_timeout(driven.now).unwrap();
    assert_eq!(due, driven.now + MIN_FETCH_INTERVAL);
    driven.pass(MIN_FETCH_INTERVAL - Duration::from_millis(1));
    assert_eq!(fetches(&driven.acts()), 0);
    driven.pass(Duration::from_millis(1));
    assert_eq!(fetches(&driven.acts()), 1);
    assert_eq!(
        driven.session.poll_timeout(driven.now),
        None,
        "one is under way"
    );
}

/// MCPL §17.3, §17.5: an announcement that says more is none; what cannot be read changes nothing; nothing changed, nothing
/// is told.
#[test]
fn unusable_manifests_change_nothing() {
    let mut driven = Driven::in_force(generous(), &everything());
    driven.tell(
        "mcpl/manifestChanged",
        &json!({ "revision": "r", "domains": ["capabilities"], "added": [] }),
    );
    let acts = driven.acts();
    assert_eq!((fetches(&acts), defects(&acts)), (0, vec![Defect::Dropped]));
    changed(&mut driven, &json!([]));
    assert_eq!(defects(&driven.acts()), [Defect::Manifest]);
    driven.pass(MIN_FETCH_INTERVAL);
    announce(&mut driven);
    driven.acts();
    driven
        .session
        .answered(driven.now, &Ask::Manifest, Answer::Error(-32601));
    assert_eq!(defects(&driven.acts()), [Defect::NoManifest]);
    assert!(driven.session.grant().allows(Capability::PushEvents));
    driven.pass(MIN_FETCH_INTERVAL);
    changed(&mut driven, &everything());
    assert!(driven.acts().is_empty());
    assert_eq!(driven.session.policy(), Policy::InForce);
}

/// MCPL: before the receipt, and of a plain server, nothing is fetched; an announcement before the receipt is not lost.
#[test]
fn nothing_is_fetched_before_the_receipt() {
    let (mut driven, _) = Driven::asked(generous(), &everything());
    announce(&mut driven);
    assert!(driven.acts().is_empty());
    driven.accept();
    assert_eq!(fetches(&driven.acts()), 1);
    let (mut driven, _) = Driven::asked(generous(), &everything());
    driven
        .session
        .answered(driven.now, &Ask::Policy, Answer::None);
    announce(&mut driven);
    assert_eq!(fetches(&driven.acts()), 0);
}
