//! The exchanges under way, and the posts that wait for room.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::stream::SelectAll;

use super::control::{Control, Told};
use super::exchange::Exchange;
use super::limits::{MAX_IN_FLIGHT, MAX_SIDE_IN_FLIGHT};
use super::link::Standing;
use super::{Handed, HttpEvent, Post, PostKind};
use crate::web::Boxed;

/// All exchanges with one server.
pub(super) struct Lanes {
    exchanges: SelectAll<Exchange>,
    /// The posts among them.
    posts: HashMap<u64, (PostKind, Arc<Control>)>,
    requests: Lane,
    /// Notifications and replies.
    side: Lane,
}

struct Lane {
    under_way: usize,
    most: usize,
    /// Each with the session that it belongs to, whatever becomes of that while it waits.
    waiting: VecDeque<(Post, Standing)>,
}

impl Lane {
    fn new(most: usize) -> Self {
        Self {
            under_way: 0,
            most,
            waiting: VecDeque::new(),
        }
    }

    fn next(&mut self) -> Option<(Post, Standing)> {
        if self.under_way == self.most {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.under_way += 1;
        Some(next)
    }
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self {
            exchanges: SelectAll::new(),
            posts: HashMap::new(),
            requests: Lane::new(MAX_IN_FLIGHT),
            side: Lane::new(MAX_SIDE_IN_FLIGHT),
        }
    }

    /// Puts `post`, which belongs to `session`, behind those that wait.
    pub(super) fn wait(&mut self, post: Post, session: Standing) {
        self.lane(post.kind).waiting.push_back((post, session));
    }

    /// Begins what there is room for.
    pub(super) fn begin(
        &mut self,
        start: impl Fn((Post, Standing), Arc<Control>) -> Boxed<'static, ()>,
    ) {
        while let Some((post, session)) = self.side.next().or_else(|| self.requests.next()) {
            let control = Arc::new(Control::behind(post.handover.clone()));
            let key = post.key;
            self.posts.insert(key, (post.kind, Arc::clone(&control)));
            let work = start((post, session), Arc::clone(&control));
            self.exchanges.push(Exchange::new(Some(key), control, work));
        }
    }

    /// Begins an exchange that is no post's.
    pub(super) fn begin_stream(&mut self, control: Arc<Control>, work: Boxed<'static, ()>) {
        self.exchanges.push(Exchange::new(None, control, work));
    }

    /// A post that waits, taken away without being begun.
    pub(super) fn take_waiting(&mut self) -> Option<Post> {
        let side = self.side.waiting.pop_front();
        side.or_else(|| self.requests.waiting.pop_front())
            .map(|(post, _)| post)
    }

    pub(super) fn hang_up(&mut self, key: u64) -> Handed {
        if let Some((_, control)) = self.remove(key) {
            return control.hang_up();
        }
        for lane in [&mut self.requests, &mut self.side] {
            if let Some(at) = lane.waiting.iter().position(|(post, _)| post.key == key) {
                lane.waiting.remove(at);
                return Handed::No;
            }
        }
        // Ended before: what became of it was told.
        Handed::Yes
    }

    /// Drops every request, begun or not; what tells the server something stays.
    pub(super) fn hang_up_on_requests(&mut self) {
        self.requests.waiting.clear();
        let of_requests = |(key, (kind, _)): (&u64, &(PostKind, Arc<Control>))| {
            kind.wants_reply().then_some(*key)
        };
        let keys: Vec<u64> = self.posts.iter().filter_map(of_requests).collect();
        for key in keys {
            self.hang_up(key);
        }
    }

    /// Whether a notification or a reply is on its way.
    pub(super) fn is_telling(&self) -> bool {
        self.side.under_way > 0 || !self.side.waiting.is_empty()
    }

    pub(super) fn finish(&self, key: u64) {
        if let Some((_, control)) = self.posts.get(&key) {
            control.finish();
        }
    }

    /// What came next, and of which kind the post was that ended with it.
    pub(super) fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<(Told, Option<PostKind>)> {
        let Poll::Ready(Some(told)) = Pin::new(&mut self.exchanges).poll_next(cx) else {
            return Poll::Pending;
        };
        let ended = match told {
            Told::Event(HttpEvent::Ended { key, .. } | HttpEvent::SessionLost { key, .. }) => {
                self.remove(key).map(|(kind, _)| kind)
            }
            _ => None,
        };
        Poll::Ready((told, ended))
    }

    fn remove(&mut self, key: u64) -> Option<(PostKind, Arc<Control>)> {
        let (kind, control) = self.posts.remove(&key)?;
        let lane = self.lane(kind);
        lane.under_way = lane.under_way.saturating_sub(1);
        Some((kind, control))
    }

    fn lane(&mut self, kind: PostKind) -> &mut Lane {
        if kind.wants_reply() {
            &mut self.requests
        } else {
            &mut self.side
        }
    }
}
