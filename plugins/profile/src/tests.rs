//! The routes, natively, against the SDK's fake server.

use rookery_plugin::test::Fake;

use crate::Profile;

#[test]
fn image_is_taken_off_and_the_other_stays() {
    let fake = Fake::new::<Profile>();
    let (alice, bob) = (fake.account("alice"), fake.account("bob"));
    fake.state(|state| {
        for (account, image) in [(alice, "avatar"), (alice, "header"), (bob, "avatar")] {
            state.profile_images.insert((account.0, image.to_owned()));
        }
    });
    let own = fake.delete("/api/v1/profile/avatar").as_account(alice).send().ok();
    assert_eq!((own["id"].as_str(), own["avatar"].as_str()), (Some(alice.to_string().as_str()), Some("missing")));
    assert_eq!(own["header"], "its own");
    assert!(own["source"].is_object(), "as its owner sees it");
    let own = fake.delete("/api/v1/profile/header").as_account(alice).send().ok();
    assert_eq!(own["header"], "missing");
    fake.delete("/api/v1/profile/header").as_account(alice).send().ok();
    assert_eq!(fake.state(|state| state.profile_images.clone()), [(bob.0, "avatar".to_owned())].into());
}
