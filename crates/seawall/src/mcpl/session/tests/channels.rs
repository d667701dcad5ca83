//! Channels of a session: verdicts, messages, and those that the configuration opens.

use serde_json::{Value, json};

use super::{Driven, channel, defects, everything, generous, json_of, message, replies};
use crate::mcpl::callbacks::Reception;
use crate::mcpl::channels::{ChannelState, Place, text_blocks};
use crate::mcpl::policy::ChannelSubscription;
use crate::mcpl::session::{Act, Answer, Ask, Decision, Defect, Question, Unsent};

fn subscribed(subscription: ChannelSubscription) -> Driven {
    let mut policy = generous();
    policy.channel_subscription = subscription;
    Driven::in_force(policy, &everything())
}

fn opens(driven: &mut Driven) -> Vec<String> {
    let open = |act| match act {
        Act::Ask(Ask::Open(channel), params) => {
            let params: Value = params.parse().unwrap();
            assert_eq!(params["channelId"], channel.as_str());
            Some(channel)
        }
        _ => None,
    };
    driven.acts().into_iter().filter_map(open).collect()
}

fn opened(driven: &mut Driven, id: &str, answer: Answer) {
    let ask = Ask::Open(id.to_owned());
    driven.session.answered(driven.now, &ask, answer);
}

/// MCPL §14.5: each message by itself: one of a channel that is not registered is never taken.
#[test]
fn messages_are_judged_one_by_one() {
    let mut driven = Driven::in_force(generous(), &everything());
    let register = json!({ "channels": [channel("a"), { "id": "bad" }] });
    let verdicts = driven.reply_to("channels/register", &register).unwrap();
    assert_eq!(verdicts["results"][0]["accepted"], true);
    assert_eq!(verdicts["results"][1]["accepted"], false);
    let batch = json!({ "messages": [message("a", "1"), message("x", "2"), message("a", "3")] });
    driven.request("channels/incoming", &batch);
    let (number, question) = driven.question();
    let Question::Messages(asked) = question else {
        panic!()
    };
    assert_eq!(asked.len(), 2);
    let receptions = vec![
        Reception::Accepted {
            id: Some("conv".to_owned()),
        },
        Reception::refused("busy"),
    ];
    driven
        .session
        .decided(number, Decision::Receptions(receptions));
    let results = replies(driven.acts()).remove(0).1.unwrap();
    assert_eq!(
        results["results"],
        json!([
            { "messageId": "1", "accepted": true, "conversationId": "conv" },
            { "messageId": "2", "accepted": false, "reason": "unknown_channel" },
            { "messageId": "3", "accepted": false, "reason": "not_taken" },
        ])
    );
    let again = json!({ "messages": [message("a", "1"), message("a", "3")] });
    driven.request("channels/incoming", &again);
    let (number, question) = driven.question();
    assert!(matches!(question, Question::Messages(asked) if asked.len() == 1));
    driven.session.decided(number, Decision::Receptions(vec![]));
    let results = replies(driven.acts()).remove(0).1.unwrap();
    assert_eq!(results["results"][0]["reason"], "duplicate");
    assert_eq!(
        results["results"][1]["accepted"], false,
        "no answer is a no"
    );
    let nothing = driven.reply_to(
        "channels/incoming",
        &json!({ "messages": [message("x", "9")] }),
    );
    assert_eq!(nothing.unwrap()["results"][0]["accepted"], false);
}

/// MCPL §14.5: what a notification announces and is not taken is told to people.
#[test]
fn refused_channels_of_a_notification_are_told() {
    let mut driven = Driven::in_force(generous(), &everything());
    let changed = json!({ "added": [channel("a"), { "id": "bad" }, 7] });
    driven.tell("channels/changed", &changed);
    assert_eq!(defects(&driven.acts()), [Defect::ChannelsRefused(2)]);
    assert!(driven.session.registry().get("a").is_some());
    driven.tell("channels/changed", &json!({ "added": 7 }));
    assert_eq!(defects(&driven.acts()), [Defect::Dropped]);
    let answered = driven.reply_to("channels/changed", &changed).unwrap();
    assert_eq!(answered["results"].as_array().unwrap().len(), 3);
}

/// MCPL: the configuration opens none, all, or those that it lists; one after the other, whatever comes of each.
#[test]
fn configuration_opens_channels() {
    let register = json!({ "channels": [channel("a"), channel("b"), channel("c")] });
    let mut manual = subscribed(ChannelSubscription::Manual);
    manual.request("channels/register", &register);
    assert!(opens(&mut manual).is_empty());
    let mut listed = subscribed(ChannelSubscription::Listed(vec!["b".to_owned()]));
    listed.request("channels/register", &register);
    assert_eq!(opens(&mut listed), ["b"]);
    let mut auto = subscribed(ChannelSubscription::Auto);
    auto.request("channels/register", &register);
    assert_eq!(opens(&mut auto), ["a"]);
    auto.request("channels/register", &register);
    assert!(opens(&mut auto).is_empty(), "not twice");
    opened(&mut auto, "a", Answer::Error(-32024));
    assert_eq!(opens(&mut auto), ["b"]);
    auto.tell("channels/changed", &json!({ "removed": ["c"] }));
    let result = json!({ "channel": channel("b") });
    opened(&mut auto, "b", Answer::Result(json_of(&result)));
    assert!(opens(&mut auto).is_empty(), "it is gone");
    let open = auto
        .session
        .registry()
        .get("b")
        .map(|channel| channel.state());
    assert_eq!(open, Some(ChannelState::Open));
}

/// MCPL §14.1: without the capability nothing is opened, closed, published, acknowledged or streamed.
#[test]
fn nothing_is_said_to_channels_without_its_grant() {
    let mut policy = generous();
    policy.channel_subscription = ChannelSubscription::Auto;
    let mcpl = json!({ "version": "0.5", "channels": { "register": true } });
    let mut driven = Driven::in_force(policy, &mcpl);
    driven.request("channels/register", &json!({ "channels": [channel("a")] }));
    assert!(opens(&mut driven).is_empty());
    let session = &driven.session;
    let denied = |unsent: Unsent| matches!(unsent, Unsent::Denied(_));
    assert!(denied(session.opening("a").unwrap_err()));
    assert!(denied(session.closing("a").unwrap_err()));
    let text = text_blocks("x");
    let publication = session.publication("c", "a", Place::Anywhere, &text);
    assert!(denied(publication.unwrap_err()));
    assert!(denied(session.streams_to("a").unwrap_err()));
    for method in [
        "context/beforeInference",
        "inference/lifecycle",
        "inference/chunk",
        "channels/acknowledge",
        "channels/typing",
        "channels/outgoing/complete",
        "tools/lifecycle",
    ] {
        assert!(denied(session.sends(method).unwrap_err()), "{method}");
    }
    assert_eq!(session.sends("channels/list"), Ok(()));
    assert_eq!(session.sends("context/afterInference"), Err(Unsent::Method));
}

/// MCPL §14.3: what is said goes to channels that are registered, in their direction.
#[test]
fn only_registered_channels_are_spoken_to() {
    let mut driven = Driven::in_force(generous(), &everything());
    let mut inbound = channel("in");
    inbound["direction"] = json!("inbound");
    let register = json!({ "channels": [channel("a"), inbound] });
    driven.reply_to("channels/register", &register).unwrap();
    let session = &mut driven.session;
    let text = text_blocks("x");
    let published = session.publication("c", "a", Place::Anywhere, &text);
    assert!(published.is_ok());
    assert!(session.streams_to("a").is_ok());
    assert!(session.streams_to("in").is_err());
    assert_eq!(session.opening("x").unwrap_err(), Unsent::UnknownChannel);
    assert_eq!(session.closing("x").unwrap_err(), Unsent::UnknownChannel);
    let other = json_of(&json!({ "channel": channel("b") }));
    assert!(session.opened(Some("a"), Some(&other)).is_none());
    assert!(session.opened(Some("a"), None).is_none());
    let closed = json_of(&json!({ "closed": true }));
    assert!(session.closed("a", &closed));
    assert!(!session.closed("a", &json_of(&json!({ "closed": "true" }))));
}
