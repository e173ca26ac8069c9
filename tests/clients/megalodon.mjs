// The npm package megalodon against the server: one case for each thing it offers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createReadStream, writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import generator, { detector } from "megalodon";
import { authorize, eventually, FILL_MS, later, people, PIXEL, pushKeys, url, withId, word } from "./cases.mjs";

const anonymous = generator("mastodon", url);
const [alice, bob, carol] = ["alice", "bob", "carol"].map((name) =>
  Object.assign(generator("mastodon", url, people[name].access_token), { id: people[name].id, person: people[name] }),
);

/** The content of the response. */
async function data(call) {
  return (await call).data;
}

function publish(client, status, options = {}) {
  return data(client.postStatus(status, options));
}

function upload(client, description) {
  writeFileSync("pixel.png", PIXEL);
  return data(client.uploadMedia(createReadStream("pixel.png"), { description }));
}

/** Asserts that the call fails with this HTTP status. */
function fails(call, status) {
  return assert.rejects(call, (error) => error.response?.status === status);
}

function register(scopes) {
  return anonymous.registerApp("megalodon test", { scopes });
}

/** Removes the follows between all users. */
async function unfollowAll() {
  for (const one of [alice, bob, carol]) {
    for (const other of [alice, bob, carol]) {
      if (one !== other) await one.unfollowAccount(other.id);
    }
  }
}

// ---- Instance ----

test("software is detected", async () => {
  assert.equal(await detector(url), "mastodon");
});

test("instance", async () => {
  const instance = await data(anonymous.getInstance());
  assert.equal(instance.uri, new URL(url).host);
  assert.ok(instance.configuration.statuses.max_characters > 0);
  assert.match(instance.urls.streaming_api, /^ws:/);
});

test("instance peers and activity", async () => {
  assert.ok(Array.isArray(await data(anonymous.getInstancePeers())));
  assert.equal((await data(anonymous.getInstanceActivity())).length, 12);
});

test("instance trends", async () => {
  assert.ok(Array.isArray(await data(anonymous.getInstanceTrends())));
});

test("custom emojis", async () => {
  assert.deepEqual(await data(anonymous.getInstanceCustomEmojis()), []);
});

test("directory", async () => {
  await bob.updateCredentials({ discoverable: true });
  await publish(bob, "Hello");
  await eventually(async () => withId(await data(anonymous.getInstanceDirectory({ local: true })), bob.id));
});

test("announcements are dismissed", async () => {
  const [announcement] = await data(alice.getInstanceAnnouncements());
  assert.match(announcement.content, /An announcement/);
  await alice.dismissInstanceAnnouncement(announcement.id);
  assert.equal((await data(alice.getInstanceAnnouncements()))[0].read, true);
});

test("announcements are reacted to", async () => {
  const [{ id }] = await data(alice.getInstanceAnnouncements());
  await alice.addReactionToAnnouncement(id, "👍");
  assert.equal((await data(alice.getInstanceAnnouncements()))[0].reactions[0].count, 1);
  await alice.removeReactionFromAnnouncement(id, "👍");
  assert.deepEqual((await data(alice.getInstanceAnnouncements()))[0].reactions, []);
});

// ---- OAuth ----

test("app registration", async () => {
  const app = await register(["read"]);
  assert.ok(app.client_id);
  assert.ok(app.client_secret);
});

test("authorization code", async () => {
  const { client_id, client_secret, url: address } = await register(["read", "write"]);
  const code = await authorize(address, alice.person);
  const { access_token } = await anonymous.fetchAccessToken(client_id, client_secret, code);
  const client = generator("mastodon", url, access_token);
  assert.equal((await data(client.verifyAccountCredentials())).id, alice.id);
  assert.equal((await data(client.verifyAppCredentials())).name, "megalodon test");
});

test("authorization URL", async () => {
  const { client_id, client_secret } = await register(["read"]);
  const address = new URL(await anonymous.generateAuthUrl(client_id, client_secret, { scope: ["read"] }));
  assert.equal(address.pathname, "/oauth/authorize");
  assert.ok(await authorize(address, alice.person));
});

test("revoked token", async () => {
  const { client_id, client_secret, url: address } = await register(["read"]);
  const code = await authorize(address, alice.person);
  const { access_token } = await anonymous.fetchAccessToken(client_id, client_secret, code);
  await anonymous.revokeToken(client_id, client_secret, access_token);
  await fails(generator("mastodon", url, access_token).verifyAccountCredentials(), 401);
});

// ---- Accounts ----

test("verify credentials", async () => {
  const account = await data(alice.verifyAccountCredentials());
  assert.equal(account.username, "alice");
  assert.equal(account.source.privacy, "public");
});

test("missing token", async () => {
  await fails(anonymous.verifyAccountCredentials(), 401);
});

test("profile is updated", async () => {
  const fields_attributes = [{ name: "Site", value: "example.com" }];
  const account = await data(alice.updateCredentials({ display_name: "Alice", note: "A note", fields_attributes }));
  assert.equal(account.display_name, "Alice");
  assert.equal(account.fields[0].name, "Site");
});

test("account by id and lookup", async () => {
  assert.equal((await data(alice.getAccount(bob.id))).username, "bob");
  assert.equal((await data(alice.lookupAccount("bob"))).id, bob.id);
});

test("account search", async () => {
  assert.ok(withId(await data(alice.searchAccount("bob")), bob.id));
});

test("follow and unfollow", async () => {
  assert.equal((await data(alice.followAccount(bob.id, { reblog: false }))).following, true);
  assert.ok(withId(await data(alice.getAccountFollowers(bob.id)), alice.id));
  assert.ok(withId(await data(alice.getAccountFollowing(alice.id)), bob.id));
  assert.equal((await data(alice.getRelationship(bob.id))).following, true);
  assert.equal((await data(alice.unfollowAccount(bob.id))).following, false);
});

test("followers over several pages", async () => {
  await bob.followAccount(alice.id);
  await carol.followAccount(alice.id);
  const followers = await data(alice.getAccountFollowers(alice.id, { limit: 1, get_all: true }));
  assert.equal(followers.length, 2);
});

test("relationships", async () => {
  assert.equal((await data(alice.getRelationships([bob.id, carol.id]))).length, 2);
});

test("account subscription", async () => {
  await alice.followAccount(bob.id);
  assert.equal((await data(alice.subscribeAccount(bob.id))).notifying, true);
  assert.equal((await data(alice.unsubscribeAccount(bob.id))).notifying, false);
});

test("account note", async () => {
  assert.equal((await data(alice.setAccountNote(bob.id, "a friend"))).note, "a friend");
});

test("endorsements", async () => {
  await alice.followAccount(bob.id);
  assert.equal((await data(alice.pinAccount(bob.id))).endorsed, true);
  assert.ok(withId(await data(alice.getEndorsements()), bob.id));
  assert.equal((await data(alice.unpinAccount(bob.id))).endorsed, false);
});

test("follow requests", async () => {
  await unfollowAll();
  await carol.updateCredentials({ locked: true });
  for (const person of [alice, bob]) {
    assert.equal((await data(person.followAccount(carol.id))).requested, true);
  }
  assert.equal((await data(carol.getFollowRequests())).length, 2);
  assert.equal((await data(carol.acceptFollowRequest(alice.id))).followed_by, true);
  assert.equal((await data(carol.rejectFollowRequest(bob.id))).followed_by, false);
  assert.deepEqual(await data(carol.getFollowRequests()), []);
  await carol.updateCredentials({ locked: false });
});

test("mutes", async () => {
  assert.equal((await data(alice.muteAccount(bob.id, true))).muting_notifications, true);
  assert.ok(withId(await data(alice.getMutes()), bob.id));
  assert.equal((await data(alice.unmuteAccount(bob.id))).muting, false);
});

test("blocks", async () => {
  assert.equal((await data(alice.blockAccount(bob.id))).blocking, true);
  assert.ok(withId(await data(alice.getBlocks()), bob.id));
  assert.equal((await data(alice.unblockAccount(bob.id))).blocking, false);
});

test("domain blocks", async () => {
  await alice.blockDomain("blocked.example");
  assert.deepEqual(await data(alice.getDomainBlocks()), ["blocked.example"]);
  await alice.unblockDomain("blocked.example");
  assert.deepEqual(await data(alice.getDomainBlocks()), []);
});

test("preferences", async () => {
  assert.equal((await data(alice.getPreferences()))["posting:default:visibility"], "public");
});

test("suggestions", async () => {
  assert.ok(Array.isArray(await data(alice.getSuggestions())));
});

test("reports", async () => {
  const { id } = await publish(bob, "Hello");
  const report = await data(alice.report(bob.id, { status_ids: [id], comment: "Why", category: "spam" }));
  assert.equal(report.category, "spam");
});

// ---- Statuses ----

test("status is published", async () => {
  const status = await publish(alice, "Hello", { language: "de", visibility: "unlisted" });
  assert.equal(status.language, "de");
  assert.equal((await data(anonymous.getStatus(status.id))).visibility, "unlisted");
});

test("status with a content warning", async () => {
  const status = await publish(alice, "Hello", { spoiler_text: "Careful", sensitive: true });
  assert.equal(status.spoiler_text, "Careful");
  assert.equal(status.sensitive, true);
});

test("private status is hidden", async () => {
  await unfollowAll();
  const { id } = await publish(alice, "Hello", { visibility: "private" });
  await fails(bob.getStatus(id), 404);
});

test("reply and context", async () => {
  const parent = await publish(alice, "Hello");
  const reply = await publish(bob, "@alice hello", { in_reply_to_id: parent.id });
  const { descendants } = await data(alice.getStatusContext(parent.id));
  assert.deepEqual(descendants.map((status) => status.id), [reply.id]);
});

test("status is edited", async () => {
  const { id } = await publish(alice, "Before");
  assert.match((await data(alice.editStatus(id, { status: "After" }))).content, /After/);
  assert.equal((await data(alice.getStatusSource(id))).text, "After");
});

test("status is deleted", async () => {
  const { id } = await publish(alice, "Hello");
  await alice.deleteStatus(id);
  await fails(alice.getStatus(id), 404);
});

test("favourites", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await data(bob.favouriteStatus(id))).favourites_count, 1);
  assert.ok(withId(await data(alice.getStatusFavouritedBy(id)), bob.id));
  assert.ok(withId(await data(bob.getFavourites()), id));
  assert.equal((await data(bob.unfavouriteStatus(id))).favourited, false);
});

test("reblogs", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await data(bob.reblogStatus(id))).reblog.id, id);
  assert.ok(withId(await data(alice.getStatusRebloggedBy(id)), bob.id));
  assert.equal((await data(bob.unreblogStatus(id))).reblogged, false);
});

test("bookmarks", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await data(bob.bookmarkStatus(id))).bookmarked, true);
  assert.ok(withId(await data(bob.getBookmarks()), id));
  assert.equal((await data(bob.unbookmarkStatus(id))).bookmarked, false);
});

test("pinned statuses", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await data(alice.pinStatus(id))).pinned, true);
  assert.ok(withId(await data(bob.getAccountStatuses(alice.id, { pinned: true })), id));
  assert.equal((await data(alice.unpinStatus(id))).pinned, false);
});

test("conversation is muted", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await data(alice.muteStatus(id))).muted, true);
  assert.equal((await data(alice.unmuteStatus(id))).muted, false);
});

test("quotes", async () => {
  const quoted = await publish(alice, "Hello");
  const quote = await publish(bob, "Look", { quote_id: quoted.id });
  assert.equal(quote.quote.state, "accepted");
  assert.equal(quote.quote.quoted_status.id, quoted.id);
});

test("statuses of an account", async () => {
  const { id } = await publish(alice, "Hello");
  await publish(alice, "@bob hello", { in_reply_to_id: (await publish(bob, "Hello")).id });
  const [newest] = await data(bob.getAccountStatuses(alice.id, { exclude_replies: true, limit: 1 }));
  assert.equal(newest.id, id);
});

test("validation error", async () => {
  await fails(publish(alice, ""), 422);
});

// ---- Media and polls ----

test("media", async () => {
  const { id } = await upload(alice, "A pixel");
  const media = await eventually(async () => {
    const media = await data(alice.getMedia(id));
    return media.url && media;
  });
  assert.equal(media.description, "A pixel");
  const changed = await data(alice.updateMedia(id, { description: "One pixel", focus: "0.5,0.5" }));
  assert.equal(changed.description, "One pixel");
  const status = await publish(alice, "Hello", { media_ids: [id] });
  assert.equal(status.media_attachments[0].id, id);
});

test("polls", async () => {
  const { poll } = await publish(alice, "Which?", { poll: { options: ["a", "b"], expires_in: 3600, multiple: true } });
  assert.equal(poll.multiple, true);
  assert.equal((await data(bob.votePoll(poll.id, [0, 1]))).voted, true);
  assert.equal((await data(alice.getPoll(poll.id))).votes_count, 2);
});

test("scheduled statuses", async () => {
  const { id } = await publish(alice, "Later", { scheduled_at: later(3600) });
  assert.equal(withId(await data(alice.getScheduledStatuses()), id).params.text, "Later");
  const scheduledAt = later(7200);
  assert.equal((await data(alice.scheduleStatus(id, scheduledAt))).scheduled_at, scheduledAt);
  await alice.cancelScheduledStatus(id);
  await fails(alice.getScheduledStatus(id), 404);
});

// ---- Timelines and lists ----

test("home timeline", async () => {
  await alice.followAccount(bob.id);
  const { id } = await publish(bob, "Hello");
  await eventually(async () => withId(await data(alice.getHomeTimeline()), id));
});

test("public and local timeline", async () => {
  const { id } = await publish(bob, "Hello");
  await eventually(async () => withId(await data(anonymous.getPublicTimeline()), id));
  await eventually(async () => withId(await data(anonymous.getLocalTimeline()), id));
});

test("hashtag timeline", async () => {
  const tag = word();
  const { id } = await publish(bob, `Hello #${tag}`);
  await eventually(async () => withId(await data(anonymous.getTagTimeline(tag)), id));
});

test("pages", async () => {
  const tag = word();
  const ids = [];
  for (const number of [1, 2, 3]) ids.push((await publish(bob, `${number} #${tag}`)).id);
  const page = (options) => data(anonymous.getTagTimeline(tag, { limit: 1, ...options }));
  await eventually(async () => (await data(anonymous.getTagTimeline(tag))).length === 3);
  assert.equal((await page({ max_id: ids[2] }))[0].id, ids[1]);
  assert.equal((await page({ min_id: ids[0] }))[0].id, ids[1]);
  assert.equal((await page({ since_id: ids[0] }))[0].id, ids[2]);
});

test("lists", async () => {
  await alice.followAccount(bob.id);
  const { id } = await data(alice.createList("Friends"));
  assert.equal((await data(alice.updateList(id, "Family"))).title, "Family");
  assert.ok(withId(await data(alice.getLists()), id));
  await alice.addAccountsToList(id, [bob.id]);
  assert.ok(withId(await data(alice.getAccountsInList(id)), bob.id));
  assert.ok(withId(await data(alice.getAccountLists(bob.id)), id));
  const status = await publish(bob, "Hello");
  await eventually(async () => withId(await data(alice.getListTimeline(id)), status.id));
  await alice.deleteAccountsFromList(id, [bob.id]);
  assert.deepEqual(await data(alice.getAccountsInList(id)), []);
  await alice.deleteList(id);
  await fails(alice.getList(id), 404);
});

test("conversations", async () => {
  const status = await publish(bob, "@alice hello", { visibility: "direct" });
  const { id } = await eventually(async () =>
    (await data(alice.getConversationTimeline())).find((conversation) => conversation.last_status.id === status.id),
  );
  assert.equal((await data(alice.readConversation(id))).unread, false);
  await alice.deleteConversation(id);
  assert.ok(!withId(await data(alice.getConversationTimeline()), id));
});

test("markers", async () => {
  const { id } = await publish(alice, "Hello");
  await alice.saveMarkers({ home: { last_read_id: id } });
  assert.equal((await data(alice.getMarkers(["home"]))).home.last_read_id, id);
});

// ---- Filters and notifications ----

test("filters", async () => {
  const phrase = word();
  const { id } = await data(alice.createFilter(phrase, ["home"], { whole_word: true }));
  assert.equal((await data(alice.getFilter(id))).phrase, phrase);
  assert.deepEqual((await data(alice.updateFilter(id, phrase, ["public"]))).context, ["public"]);
  assert.ok(withId(await data(alice.getFilters()), id));
  await alice.deleteFilter(id);
  await fails(alice.getFilter(id), 404);
});

test("notifications", async () => {
  await alice.dismissNotifications();
  const status = await publish(bob, "@alice hello");
  const [{ id }] = await eventually(async () => {
    const notifications = await data(alice.getNotifications({ exclude_types: ["follow"] }));
    return notifications.length > 0 && notifications;
  });
  const notification = await data(alice.getNotification(id));
  assert.equal(notification.type, "mention");
  assert.equal(notification.status.id, status.id);
  await alice.dismissNotification(id);
  assert.deepEqual(await data(alice.getNotifications()), []);
});

test("push subscription", async () => {
  const subscription = { endpoint: "https://push.example/1", keys: pushKeys() };
  const created = await data(alice.subscribePushNotification(subscription, { alerts: { mention: true } }));
  assert.equal(created.alerts.mention, true);
  assert.equal((await data(alice.updatePushSubscription({ alerts: { follow: true } }))).alerts.follow, true);
  assert.equal((await data(alice.getPushSubscription())).endpoint, subscription.endpoint);
  await alice.deletePushSubscription();
  await fails(alice.getPushSubscription(), 404);
});

// ---- Search and tags ----

test("search", async () => {
  const [tag, unusual] = [word(), word()];
  const { id } = await publish(alice, `Hello ${unusual} #${tag}`);
  await eventually(async () => withId((await data(alice.search(unusual, { type: "statuses" }))).statuses, id));
  await eventually(async () => (await data(alice.search(tag, { type: "hashtags" }))).hashtags.length === 1);
  assert.ok(withId((await data(alice.search("bob", { type: "accounts" }))).accounts, bob.id));
});

test("followed tags", async () => {
  assert.equal((await data(alice.followTag("rookery"))).following, true);
  assert.equal((await data(alice.getFollowedTags()))[0].name, "rookery");
  assert.equal((await data(alice.unfollowTag("rookery"))).following, false);
  assert.equal((await data(alice.getTag("rookery"))).name, "rookery");
});

test("featured tags", async () => {
  const { id } = await data(alice.createFeaturedTag("rookery"));
  assert.ok(withId(await data(alice.getFeaturedTags()), id));
  assert.ok(Array.isArray(await data(alice.getSuggestedTags())));
  await alice.deleteFeaturedTag(id);
  assert.deepEqual(await data(alice.getFeaturedTags()), []);
});

// ---- Streaming ----

/** Waits until the stream is open, does `act`, and then waits for an event of this type that `matches` its result. */
async function streamed(open, type, act, matches) {
  const stream = await open;
  const events = [];
  stream.on(type, (event) => events.push(event));
  try {
    await once(stream, "connect");
    const result = await act();
    await eventually(() => events.some((event) => matches(event, result)));
  } finally {
    stream.stop();
  }
}

function sameId(event, result) {
  return event.id === result.id;
}

test("stream of the home timeline", () =>
  streamed(alice.userStreaming(), "update", () => publish(alice, "Hello"), sameId));

test("stream of notifications", () => {
  const matches = (event, status) => event.status?.id === status.id;
  return streamed(alice.userStreaming(), "notification", () => publish(bob, "@alice hello"), matches);
});

test("stream of edits", async () => {
  const { id } = await publish(alice, "Before");
  await streamed(alice.userStreaming(), "status_update", () => data(alice.editStatus(id, { status: "After" })), sameId);
});

test("stream of deletions", async () => {
  const { id } = await publish(alice, "Hello");
  await streamed(alice.userStreaming(), "delete", () => alice.deleteStatus(id), (event) => event === id);
});

test("stream of the public timeline", () =>
  streamed(alice.publicStreaming(), "update", () => publish(bob, "Hello"), sameId));

test("stream of the local timeline", () =>
  streamed(alice.localStreaming(), "update", () => publish(bob, "Hello"), sameId));

test("stream of a hashtag", () => {
  const tag = word();
  return streamed(alice.tagStreaming(tag), "update", () => publish(bob, `Hello #${tag}`), sameId);
});

test("stream of a list", async () => {
  await alice.followAccount(bob.id);
  const { id } = await data(alice.createList("Friends"));
  await alice.addAccountsToList(id, [bob.id]);
  await sleep(FILL_MS);
  await streamed(alice.listStreaming(id), "update", () => publish(bob, "Hello"), sameId);
  await alice.deleteList(id);
});

test("stream of conversations", () => {
  const direct = () => publish(bob, "@alice hello", { visibility: "direct" });
  const matches = (event, status) => event.last_status.id === status.id;
  return streamed(alice.directStreaming(), "conversation", direct, matches);
});
