//! A page on the terminal: the whole address, where it leads, and nothing opened without a yes.

use std::future::Future;
use std::thread;

use seawall::inputs::{Consent, Page};
use tokio::sync::oneshot;

use super::console::{Console, Word, strong};
use super::quote::quote;
use crate::printer::Look;

#[cfg(test)]
mod tests;

/// Whether a browser could be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    Yes,
    No,
}

/// Shows a page and asks; on a yes, has it opened.
pub(super) async fn visit<C: Console, O: Future<Output = Opened>>(
    console: &mut C,
    server: &str,
    page: &Page,
    open: impl FnOnce(String) -> O,
) -> Consent {
    let name = strong(console, server);
    let said = quote(page.message(), console.width());
    let (url, origin) = (page.url().as_str(), strong(console, &page.origin()));
    console.show(&format!(
        "\nThe server {name} asks you to visit a page in your browser. It says:\n{said}\
         The page's address:\n  {url}\nIt leads to {origin}\n"
    ));
    if page.is_punycode() {
        let warning = console.colour().paint(Look::Warning, "warning: ");
        console.show(&format!(
            "{warning}this host's name holds characters beyond ASCII and may be made to look like another host's\n"
        ));
    }
    match ask(console, "Open it?").await {
        Word::Yes => {}
        Word::Decline => return Consent::Decline,
        _ => return Consent::Cancel,
    }
    if open(url.to_owned()).await == Opened::Yes {
        console.show("It was handed to your browser; what you do there, Seawall does not see.\n");
        return Consent::Accept;
    }
    console.show("No browser could be started. Open the address above yourself.\n");
    match ask(console, "Opened?").await {
        Word::Yes => Consent::Accept,
        Word::Decline => Consent::Decline,
        _ => Consent::Cancel,
    }
}

/// Asks until there is an answer; the end of the input cancels.
async fn ask(console: &mut impl Console, question: &str) -> Word {
    loop {
        console.show(&format!(
            "{question} yes, decline (tells the server no) or cancel: "
        ));
        let Some(line) = console.line().await else {
            console.show("\n");
            return Word::Cancel;
        };
        if let Some(word) = Word::of(&line).filter(|word| *word != Word::Edit) {
            return word;
        }
    }
}

/// Starts the person's own browser. A thread does it: some browsers keep who starts them waiting.
pub(super) async fn open(url: String) -> Opened {
    let (sender, opened) = oneshot::channel();
    let started = thread::Builder::new()
        .name("browser".to_owned())
        .spawn(move || {
            let opened = match webbrowser::open(&url) {
                Ok(()) => Opened::Yes,
                Err(_) => Opened::No,
            };
            // Nobody waits for it any longer.
            let _ = sender.send(opened);
        });
    match started {
        Ok(_) => opened.await.unwrap_or(Opened::No),
        Err(_) => Opened::No,
    }
}
