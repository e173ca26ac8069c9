//! The documents for other servers: to requests that nobody signed, and to accounts of other servers that signed them.

use super::oracle::{Author, Subject, VIEWERS, Viewer, may_see};
use super::{World, domain};
use crate::harness::liar::KEY;
use crate::harness::{Answer, Letter, TestApp};

/// The documents for other servers, to requests that nobody signed.
#[tokio::test]
async fn documents_for_other_servers_match_oracle() {
    let world = World::new().await;
    let anonymous = VIEWERS[0];
    let read = async |path: String| {
        let answer = world.app.anonymous().get(&path).header("accept", "application/activity+json").send().await;
        assert!(!answer.status.is_server_error(), "{path}: {}", answer.status);
        answer.text()
    };
    let local = || world.subjects.iter().filter(|subject| !subject.author.is_remote());
    for subject in local() {
        let open = may_see(anonymous, subject) == Some(true);
        let note = format!("{}/statuses/{}", world.actor(subject.author), subject.id);
        for rest in ["", "/activity"] {
            let shown = read(format!("{note}{rest}")).await.contains(&subject.mark);
            assert_eq!(shown, open, "{rest} of {subject:?}");
        }
    }
    for author in [Author::Plain, Author::Limited, Author::Suspended] {
        let actor = world.actor(author);
        for rest in
            ["", "/outbox", "/outbox?page=true", "/collections/featured", "/followers?page=1", "/following?page=1"]
        {
            let text = read(format!("{actor}{rest}")).await;
            let leaks = |subject: &&Subject| text.contains(&subject.mark) && may_see(anonymous, subject) != Some(true);
            assert_eq!(local().filter(leaks).count(), 0, "{actor}{rest}");
        }
    }
}

/// The documents for other servers, to the remote accounts that signed the requests, in both modes.
#[tokio::test]
async fn documents_for_signers_match_oracle() {
    for mode in ["false", "true"] {
        let world = World::on(TestApp::with(&[("ROOKERY_ACCESS_AUTHORIZED_FETCH", mode)]).await).await;
        let mut faults = Vec::new();
        let mut shown_at_all = 0;
        let local = || world.subjects.iter().filter(|subject| !subject.author.is_remote());
        for subject in local() {
            let parts: &[&str] =
                if subject.reply { &[""] } else { &["", "/activity", "/replies", "/likes", "/shares", "/references"] };
            // In both orders: what was rendered for one is not served to the next.
            for signer in world.signers.iter().chain(world.signers.iter().rev().filter(|_| !subject.reply)) {
                for part in parts {
                    let path = format!("{}/statuses/{}{part}", world.actor(subject.author), subject.id);
                    let answer = read_as(&world, signer.0, &path).await;
                    let has_text = matches!(*part, "" | "/activity");
                    let shown = answer.status == 200 && (!has_text || answer.text().contains(&subject.mark));
                    let leaks = answer.status != 200 && answer.text().contains(&subject.mark);
                    shown_at_all += usize::from(shown);
                    if shown != is_served(signer.0, subject) || leaks || answer.status.is_server_error() {
                        faults.push(format!("{}: {} {part}: {}", signer.0.name, subject.mark, answer.status));
                    }
                }
            }
        }
        for (signer, _) in &world.signers {
            for author in [Author::Plain, Author::Limited, Author::Suspended] {
                let name = world.actor(author);
                let outbox = read_as(&world, *signer, &format!("{name}/outbox?page=true")).await.text();
                let featured = read_as(&world, *signer, &format!("{name}/collections/featured")).await.text();
                for subject in local().filter(|subject| subject.author == author) {
                    let served = is_served(*signer, subject);
                    let pinned = format!("/statuses/{}\"", subject.id);
                    let listed = (outbox.contains(&subject.mark), featured.contains(&pinned));
                    // The newest pinned statuses are listed, as many as people may pin.
                    if listed.0 != served || (listed.1 && !served) {
                        faults.push(format!("{}: lists of {name}: {}: {listed:?}", signer.name, subject.mark));
                    }
                }
                let actor = read_as(&world, *signer, &name).await;
                assert_eq!(actor.status, 200, "{}: {name}", signer.name);
            }
        }
        assert!(shown_at_all > 300, "only {shown_at_all} documents were served");
        assert!(
            faults.is_empty(),
            "{} faults, {mode}:\n  {}",
            faults.len(),
            faults[..faults.len().min(60)].join("\n  ")
        );
    }
}

/// True if the documents of `subject` are served to `signer`.
fn is_served(signer: Viewer, subject: &Subject) -> bool {
    !signer.is_shut_out() && may_see(signer, subject) == Some(true)
}

async fn read_as(world: &World, signer: Viewer, path: &str) -> Answer {
    let key_id = format!("https://{}/users/{}#main-key", domain(signer), signer.name);
    Letter::read(&world.app, path).signed(&key_id, &KEY).send(&world.app).await
}
