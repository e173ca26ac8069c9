// The npm package masto (masto.js) against the server: one case for each thing it offers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createOAuthAPIClient, createRestAPIClient, createStreamingAPIClient, MastoHttpError } from "masto";
import { authorize, eventually, FILL_MS, later, people, PIXEL, pushKeys, url, withId, word } from "./cases.mjs";

const OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob";
const oauth = createOAuthAPIClient({ url });
const anonymous = client();
const [alice, bob, carol, owner] = ["alice", "bob", "carol", "owner"].map((name) => {
  const { v1, v2 } = client(people[name].access_token);
  return { ...people[name], v1, v2 };
});

function client(accessToken) {
  return createRestAPIClient({ url, accessToken });
}

function publish(person, status, options = {}) {
  return person.v1.statuses.create({ status, ...options });
}

function upload(person, description) {
  return person.v2.media.create({ file: new Blob([PIXEL], { type: "image/png" }), description });
}

/** Asserts that the call fails with this HTTP status. */
function fails(call, status) {
  return assert.rejects(call, (error) => error instanceof MastoHttpError && error.statusCode === status);
}

/** Registers an application with these scopes. */
function register(scopes) {
  return anonymous.v1.apps.create({ clientName: "masto test", redirectUris: OUT_OF_BAND, scopes });
}

/** Removes the follows between all users. */
async function unfollowAll() {
  for (const one of [alice, bob, carol]) {
    for (const other of [alice, bob, carol]) {
      if (one !== other) await one.v1.accounts.$select(other.id).unfollow();
    }
  }
}

// ---- Instance ----

test("instance v2", async () => {
  const instance = await anonymous.v2.instance.fetch();
  assert.equal(instance.domain, new URL(url).host);
  assert.match(instance.configuration.urls.streaming, /^ws:/);
  assert.ok(instance.configuration.statuses.maxCharacters > 0);
});

test("instance v1", async () => {
  const instance = await anonymous.v1.instance.fetch();
  assert.equal(instance.uri, new URL(url).host);
  assert.equal(typeof instance.stats.userCount, "number");
});

test("instance activity", async () => {
  const weeks = await anonymous.v1.instance.activity.list();
  assert.equal(weeks.length, 12);
});

test("instance languages", async () => {
  const languages = await anonymous.v1.instance.languages.list();
  assert.ok(languages.some((language) => language.code === "en"));
});

test("instance extended description", async () => {
  assert.equal(typeof (await anonymous.v1.instance.extendedDescription.fetch()).content, "string");
});

test("custom emojis", async () => {
  assert.deepEqual(await anonymous.v1.customEmojis.list(), []);
});

test("announcements are dismissed", async () => {
  const [announcement] = await alice.v1.announcements.list();
  assert.match(announcement.content, /An announcement/);
  await alice.v1.announcements.$select(announcement.id).dismiss();
  assert.equal((await alice.v1.announcements.list())[0].read, true);
});

test("announcements are reacted to", async () => {
  const [announcement] = await alice.v1.announcements.list();
  const reaction = alice.v1.announcements.$select(announcement.id).reactions.$select("👍");
  await reaction.update();
  assert.equal((await alice.v1.announcements.list())[0].reactions[0].count, 1);
  await reaction.remove();
  assert.deepEqual((await alice.v1.announcements.list())[0].reactions, []);
});

// ---- OAuth ----

test("app registration and client credentials", async () => {
  const app = await register("read write");
  const { clientId, clientSecret } = app;
  const grant = { grantType: "client_credentials", clientId, clientSecret, redirectUri: OUT_OF_BAND, scope: "read" };
  const token = await oauth.token.create(grant);
  assert.equal(token.tokenType, "Bearer");
  assert.equal((await client(token.accessToken).v1.apps.verifyCredentials()).name, "masto test");
});

test("authorization code", async () => {
  const { clientId, clientSecret } = await register("read write");
  const query = { response_type: "code", client_id: clientId, redirect_uri: OUT_OF_BAND, scope: "read write" };
  const code = await authorize(`${url}/oauth/authorize?${new URLSearchParams(query)}`, alice);
  const grant = { grantType: "authorization_code", clientId, clientSecret, code, redirectUri: OUT_OF_BAND };
  const token = await oauth.token.create(grant);
  assert.equal((await client(token.accessToken).v1.accounts.verifyCredentials()).id, alice.id);
});

test("revoked token", async () => {
  const { clientId, clientSecret } = await register("read");
  const grant = { grantType: "client_credentials", clientId, clientSecret, redirectUri: OUT_OF_BAND };
  const { accessToken } = await oauth.token.create(grant);
  await oauth.revoke({ clientId, clientSecret, token: accessToken });
  await fails(client(accessToken).v1.apps.verifyCredentials(), 401);
});

test("sign-up", async () => {
  const { clientId, clientSecret } = await register("read write");
  const grant = { grantType: "client_credentials", clientId, clientSecret, redirectUri: OUT_OF_BAND };
  const app = client((await oauth.token.create({ ...grant, scope: "read write" })).accessToken);
  const username = word();
  const form = { username, email: `${username}@example.com`, password: word(), agreement: true, locale: "en" };
  const { accessToken } = await app.v1.accounts.create(form);
  await fails(client(accessToken).v1.accounts.verifyCredentials(), 403);
});

// ---- Accounts ----

test("verify credentials", async () => {
  const account = await alice.v1.accounts.verifyCredentials();
  assert.equal(account.username, "alice");
  assert.equal(account.source.privacy, "public");
});

test("missing token", async () => {
  await fails(anonymous.v1.accounts.verifyCredentials(), 401);
});

test("profile is updated", async () => {
  const fieldsAttributes = [{ name: "Site", value: "example.com" }];
  const account = await alice.v1.accounts.updateCredentials({ displayName: "Alice", note: "A note", fieldsAttributes });
  assert.equal(account.displayName, "Alice");
  assert.equal(account.source.note, "A note");
  assert.equal(account.fields[0].name, "Site");
});

test("avatar is uploaded", async () => {
  const before = (await alice.v1.accounts.verifyCredentials()).avatar;
  const account = await alice.v1.accounts.updateCredentials({ avatar: new Blob([PIXEL], { type: "image/png" }) });
  assert.notEqual(account.avatar, before);
});

test("profile of a newer server", async () => {
  const profile = await alice.v1.profile.fetch();
  assert.equal(profile.id, alice.id);
  assert.equal((await alice.v1.profile.update({ displayName: "Alice" })).displayName, "Alice");
});

test("accounts by id", async () => {
  assert.equal((await alice.v1.accounts.$select(bob.id).fetch()).username, "bob");
  const accounts = await alice.v1.accounts.fetch({ id: [alice.id, bob.id] });
  assert.deepEqual(accounts.map((account) => account.username).sort(), ["alice", "bob"]);
});

test("account lookup and search", async () => {
  assert.equal((await anonymous.v1.accounts.lookup({ acct: "bob" })).id, bob.id);
  assert.ok(withId(await alice.v1.accounts.search.list({ q: "bob" }), bob.id));
});

test("follow and unfollow", async () => {
  const account = alice.v1.accounts.$select(bob.id);
  assert.equal((await account.follow({ reblogs: false, notify: true })).notifying, true);
  assert.ok(withId(await account.followers.list(), alice.id));
  assert.ok(withId(await alice.v1.accounts.$select(alice.id).following.list(), bob.id));
  const [relationship] = await alice.v1.accounts.relationships.fetch({ id: [bob.id] });
  assert.equal(relationship.showingReblogs, false);
  assert.equal((await account.unfollow()).following, false);
});

test("familiar followers", async () => {
  const found = await alice.v1.accounts.familiarFollowers.fetch([bob.id]);
  assert.equal(found[0].id, bob.id);
});

test("follower is removed", async () => {
  await bob.v1.accounts.$select(alice.id).follow();
  await alice.v1.accounts.$select(bob.id).removeFromFollowers();
  assert.ok(!withId(await alice.v1.accounts.$select(alice.id).followers.list(), bob.id));
});

test("account note", async () => {
  assert.equal((await alice.v1.accounts.$select(bob.id).note.create({ comment: "a friend" })).note, "a friend");
});

test("endorsements", async () => {
  const account = alice.v1.accounts.$select(bob.id);
  await account.follow();
  assert.equal((await account.pin()).endorsed, true);
  assert.ok(withId(await alice.v1.endorsements.list(), bob.id));
  assert.equal((await account.unpin()).endorsed, false);
  await account.unfollow();
});

test("endorsements of a newer server", async () => {
  const account = alice.v1.accounts.$select(bob.id);
  await account.follow();
  assert.equal((await account.endorse()).endorsed, true);
  assert.ok(withId(await alice.v1.accounts.$select(alice.id).endorsements.list(), bob.id));
  assert.equal((await account.unendorse()).endorsed, false);
});

test("follow requests", async () => {
  await unfollowAll();
  await carol.v1.accounts.updateCredentials({ locked: true });
  for (const person of [alice, bob]) {
    assert.equal((await person.v1.accounts.$select(carol.id).follow()).requested, true);
  }
  assert.equal((await carol.v1.followRequests.list()).length, 2);
  assert.equal((await carol.v1.followRequests.$select(alice.id).authorize()).followedBy, true);
  assert.equal((await carol.v1.followRequests.$select(bob.id).reject()).followedBy, false);
  assert.deepEqual(await carol.v1.followRequests.list(), []);
  await carol.v1.accounts.updateCredentials({ locked: false });
});

test("mutes", async () => {
  const account = alice.v1.accounts.$select(bob.id);
  const relationship = await account.mute({ notifications: true, duration: 3600 });
  assert.equal(relationship.mutingNotifications, true);
  assert.ok(withId(await alice.v1.mutes.list(), bob.id).muteExpiresAt);
  assert.equal((await account.unmute()).muting, false);
});

test("blocks", async () => {
  const account = alice.v1.accounts.$select(bob.id);
  assert.equal((await account.block()).blocking, true);
  assert.ok(withId(await alice.v1.blocks.list(), bob.id));
  assert.equal((await account.unblock()).blocking, false);
});

test("domain blocks", async () => {
  await alice.v1.domainBlocks.create({ domain: "blocked.example" });
  assert.deepEqual(await alice.v1.domainBlocks.list(), ["blocked.example"]);
  await alice.v1.domainBlocks.remove({ domain: "blocked.example" });
  assert.deepEqual(await alice.v1.domainBlocks.list(), []);
});

test("preferences", async () => {
  assert.equal((await alice.v1.preferences.fetch())["posting:default:visibility"], "public");
});

test("directory and suggestions", async () => {
  await bob.v1.accounts.updateCredentials({ discoverable: true });
  await publish(bob, "Hello");
  await eventually(async () => withId(await anonymous.v1.directory.list({ local: true }), bob.id));
  assert.ok(Array.isArray(await alice.v2.suggestions.list()));
});

// ---- Statuses ----

test("status is published", async () => {
  const status = await publish(alice, "Hello", { language: "de", visibility: "unlisted" });
  assert.match(status.content, /Hello/);
  assert.equal(status.language, "de");
  assert.equal((await anonymous.v1.statuses.$select(status.id).fetch()).visibility, "unlisted");
});

test("status with a content warning", async () => {
  const status = await publish(alice, "Hello", { spoilerText: "Careful", sensitive: true });
  assert.equal(status.spoilerText, "Careful");
  assert.equal(status.sensitive, true);
});

test("private status is hidden", async () => {
  await unfollowAll();
  const status = await publish(alice, "Hello", { visibility: "private" });
  await fails(bob.v1.statuses.$select(status.id).fetch(), 404);
});

test("statuses by id", async () => {
  const [one, other] = [await publish(alice, "One"), await publish(alice, "Other")];
  const statuses = await alice.v1.statuses.fetch({ id: [one.id, other.id] });
  assert.equal(statuses.length, 2);
});

test("reply and context", async () => {
  const parent = await publish(alice, "Hello");
  const reply = await publish(bob, "@alice hello", { inReplyToId: parent.id });
  const context = await alice.v1.statuses.$select(parent.id).context.fetch();
  assert.deepEqual(context.descendants.map((status) => status.id), [reply.id]);
  assert.equal(reply.mentions[0].acct, "alice");
});

test("status is edited", async () => {
  const { id } = await publish(alice, "Before");
  const status = alice.v1.statuses.$select(id);
  assert.match((await status.update({ status: "After" })).content, /After/);
  assert.equal((await status.source.fetch()).text, "After");
  assert.equal((await status.history.list()).length, 2);
});

test("status is deleted", async () => {
  const { id } = await publish(alice, "Hello");
  assert.equal((await alice.v1.statuses.$select(id).remove()).text, "Hello");
  await fails(alice.v1.statuses.$select(id).fetch(), 404);
});

test("favourites", async () => {
  const { id } = await publish(alice, "Hello");
  const status = bob.v1.statuses.$select(id);
  assert.equal((await status.favourite()).favouritesCount, 1);
  assert.ok(withId(await status.favouritedBy.list(), bob.id));
  assert.ok(withId(await bob.v1.favourites.list(), id));
  assert.equal((await status.unfavourite()).favourited, false);
});

test("reblogs", async () => {
  const { id } = await publish(alice, "Hello");
  const status = bob.v1.statuses.$select(id);
  assert.equal((await status.reblog({ visibility: "unlisted" })).reblog.id, id);
  assert.ok(withId(await status.rebloggedBy.list(), bob.id));
  assert.equal((await status.unreblog()).reblogged, false);
});

test("bookmarks", async () => {
  const { id } = await publish(alice, "Hello");
  const status = bob.v1.statuses.$select(id);
  assert.equal((await status.bookmark()).bookmarked, true);
  assert.ok(withId(await bob.v1.bookmarks.list(), id));
  assert.equal((await status.unbookmark()).bookmarked, false);
});

test("pinned statuses", async () => {
  const { id } = await publish(alice, "Hello");
  const status = alice.v1.statuses.$select(id);
  assert.equal((await status.pin()).pinned, true);
  assert.ok(withId(await bob.v1.accounts.$select(alice.id).statuses.list({ pinned: true }), id));
  assert.equal((await status.unpin()).pinned, false);
});

test("conversation is muted", async () => {
  const status = alice.v1.statuses.$select((await publish(alice, "Hello")).id);
  assert.equal((await status.mute()).muted, true);
  assert.equal((await status.unmute()).muted, false);
});

test("quotes", async () => {
  const quoted = await publish(alice, "Hello", { quoteApprovalPolicy: "public" });
  const quote = await publish(bob, "Look", { quotedStatusId: quoted.id });
  assert.equal(quote.quote.state, "accepted");
  assert.equal(quote.quote.quotedStatus.id, quoted.id);
  assert.ok(withId(await alice.v1.statuses.$select(quoted.id).quotes.list(), quote.id));
});

test("statuses of an account", async () => {
  const { id } = await publish(alice, "Hello");
  await publish(alice, "@bob hello", { inReplyToId: (await publish(bob, "Hello")).id });
  const [newest] = await bob.v1.accounts.$select(alice.id).statuses.list({ excludeReplies: true, limit: 1 });
  assert.equal(newest.id, id);
});

test("validation error", async () => {
  await fails(publish(alice, ""), 422);
});

// ---- Media and polls ----

test("media", async () => {
  const media = await upload(alice, "A pixel");
  assert.equal(media.type, "image");
  const changed = await alice.v1.media.$select(media.id).update({ description: "One pixel", focus: "0.5,0.5" });
  assert.equal(changed.description, "One pixel");
  assert.equal(changed.meta.focus.x, 0.5);
  const status = await alice.v1.statuses.create({ mediaIds: [media.id] });
  assert.equal(status.mediaAttachments[0].id, media.id);
});

test("edited media description", async () => {
  const media = await upload(alice, "A pixel");
  const status = await publish(alice, "Hello", { mediaIds: [media.id] });
  const mediaAttributes = [{ id: media.id, description: "Another" }];
  const edit = { status: "Hello", mediaIds: [media.id], mediaAttributes };
  const edited = await alice.v1.statuses.$select(status.id).update(edit);
  assert.equal(edited.mediaAttachments[0].description, "Another");
});

test("polls", async () => {
  const { poll } = await publish(alice, "Which?", { poll: { options: ["a", "b"], expiresIn: 3600, multiple: true } });
  assert.equal(poll.multiple, true);
  const voted = await bob.v1.polls.$select(poll.id).votes.create({ choices: [0, 1] });
  assert.deepEqual(voted.ownVotes, [0, 1]);
  assert.equal((await alice.v1.polls.$select(poll.id).fetch()).votersCount, 1);
});

test("scheduled statuses", async () => {
  const { id } = await publish(alice, "Later", { scheduledAt: later(3600) });
  assert.equal(withId(await alice.v1.scheduledStatuses.list(), id).params.text, "Later");
  const scheduledAt = later(7200);
  const scheduled = alice.v1.scheduledStatuses.$select(id);
  assert.equal((await scheduled.update({ scheduledAt })).scheduledAt, scheduledAt);
  await scheduled.remove();
  await fails(scheduled.fetch(), 404);
});

// ---- Timelines and lists ----

test("home timeline", async () => {
  await alice.v1.accounts.$select(bob.id).follow();
  const { id } = await publish(bob, "Hello");
  await eventually(async () => withId(await alice.v1.timelines.home.list(), id));
});

test("public timeline", async () => {
  const { id } = await publish(bob, "Hello");
  await eventually(async () => withId(await anonymous.v1.timelines.public.list({ local: true }), id));
});

test("hashtag timeline", async () => {
  const tag = word();
  const { id } = await publish(bob, `Hello #${tag}`);
  await eventually(async () => withId(await anonymous.v1.timelines.tag.$select(tag).list(), id));
});

test("pages", async () => {
  const tag = word();
  const ids = [];
  for (const number of [1, 2, 3]) ids.unshift((await publish(bob, `${number} #${tag}`)).id);
  await eventually(async () => (await anonymous.v1.timelines.tag.$select(tag).list()).length === 3);
  const found = [];
  for await (const page of anonymous.v1.timelines.tag.$select(tag).list({ limit: 1 })) found.push(...page);
  assert.deepEqual(found.map((status) => status.id), ids);
});

test("lists", async () => {
  await alice.v1.accounts.$select(bob.id).follow();
  const { id } = await alice.v1.lists.create({ title: "Friends", exclusive: false });
  const list = alice.v1.lists.$select(id);
  assert.equal((await list.update({ title: "Family", repliesPolicy: "none" })).repliesPolicy, "none");
  await list.accounts.create({ accountIds: [bob.id] });
  assert.ok(withId(await list.accounts.list(), bob.id));
  assert.ok(withId(await alice.v1.accounts.$select(bob.id).lists.list(), id));
  const status = await publish(bob, "Hello");
  await eventually(async () => withId(await alice.v1.timelines.list.$select(id).list(), status.id));
  await list.accounts.remove({ accountIds: [bob.id] });
  assert.deepEqual(await list.accounts.list(), []);
  await list.remove();
  await fails(list.fetch(), 404);
});

test("conversations", async () => {
  const status = await publish(bob, "@alice hello", { visibility: "direct" });
  const { id } = await eventually(async () =>
    (await alice.v1.conversations.list()).find((conversation) => conversation.lastStatus.id === status.id),
  );
  const conversation = alice.v1.conversations.$select(id);
  assert.equal((await conversation.read()).unread, false);
  assert.equal((await conversation.unread()).unread, true);
  await conversation.remove();
  assert.ok(!withId(await alice.v1.conversations.list(), id));
});

test("markers", async () => {
  const { id } = await publish(alice, "Hello");
  await alice.v1.markers.create({ home: { lastReadId: id } });
  assert.equal((await alice.v1.markers.fetch({ timeline: ["home"] })).home.lastReadId, id);
});

// ---- Filters ----

test("filters v1", async () => {
  const phrase = word();
  const { id } = await alice.v1.filters.create({ phrase, context: ["home"], wholeWord: true });
  const filter = alice.v1.filters.$select(id);
  assert.equal((await filter.fetch()).phrase, phrase);
  assert.deepEqual((await filter.update({ phrase, context: ["public"] })).context, ["public"]);
  assert.ok(withId(await alice.v1.filters.list(), id));
  await filter.remove();
  await fails(filter.fetch(), 404);
});

test("filters v2", async () => {
  const keyword = word();
  const keywordsAttributes = [{ keyword, wholeWord: true }];
  const created = { title: "Words", context: ["home"], filterAction: "warn", keywordsAttributes };
  const { id } = await alice.v2.filters.create(created);
  const filter = alice.v2.filters.$select(id);
  const { id: other } = await filter.keywords.create({ keyword: word() });
  await alice.v2.filters.keywords.$select(other).update({ keyword: word(), wholeWord: false });
  assert.equal((await filter.keywords.list()).length, 2);
  await alice.v2.filters.keywords.$select(other).remove();
  const [first] = (await filter.fetch()).keywords;
  const updated = await filter.update({ keywordsAttributes: [{ id: first.id, keyword, wholeWord: false }] });
  assert.equal(updated.keywords[0].wholeWord, false);
  const status = await publish(bob, `Hello ${keyword}`);
  const { filtered } = await alice.v1.statuses.$select(status.id).fetch();
  assert.deepEqual(filtered[0].keywordMatches, [keyword]);
  await filter.remove();
});

test("filtered statuses", async () => {
  const status = await publish(bob, "Hello");
  const { id } = await alice.v2.filters.create({ title: "Status", context: ["home"] });
  const filter = alice.v2.filters.$select(id);
  const entry = await filter.statuses.create({ statusId: status.id });
  assert.ok(withId(await filter.statuses.list(), entry.id));
  await alice.v2.filters.statuses.$select(entry.id).remove();
  assert.deepEqual(await filter.statuses.list(), []);
  await filter.remove();
});

// ---- Notifications ----

test("notifications", async () => {
  await alice.v1.notifications.clear();
  const status = await publish(bob, "@alice hello");
  const [{ id }] = await eventually(async () => {
    const list = await alice.v1.notifications.list({ types: ["mention"] });
    return list.length > 0 && list;
  });
  assert.equal((await alice.v1.notifications.unreadCount.fetch()).count, 1);
  const notification = alice.v1.notifications.$select(id);
  assert.equal((await notification.fetch()).status.id, status.id);
  await notification.dismiss();
  await fails(notification.fetch(), 404);
});

test("grouped notifications", async () => {
  await alice.v1.notifications.clear();
  const { id } = await publish(alice, "Hello");
  for (const person of [bob, carol]) await person.v1.statuses.$select(id).favourite();
  const [group] = await eventually(async () => {
    const { notificationGroups } = await alice.v2.notifications.list({ types: ["favourite"] });
    return notificationGroups[0]?.notificationsCount === 2 && notificationGroups;
  });
  assert.equal(group.sampleAccountIds.length, 2);
  assert.equal((await alice.v2.notifications.unreadCount.fetch()).count, 1);
  const selected = alice.v2.notifications.$select(group.groupKey);
  assert.equal((await selected.fetch()).statuses[0].id, id);
  assert.equal((await selected.accounts.fetch()).length, 2);
  await selected.dismiss();
  assert.deepEqual((await alice.v2.notifications.list()).notificationGroups, []);
});

test("notification policy and requests", async () => {
  await unfollowAll();
  await alice.v2.notifications.policy.update({ forNotFollowing: "filter" });
  await publish(carol, "@alice hello");
  const [{ id }] = await eventually(async () => {
    const requests = await alice.v1.notifications.requests.list();
    return requests.length > 0 && requests;
  });
  assert.equal((await alice.v2.notifications.policy.fetch()).summary.pendingRequestsCount, 1);
  const request = alice.v1.notifications.requests.$select(id);
  assert.equal((await request.fetch()).account.id, carol.id);
  await request.accept();
  await eventually(async () => (await alice.v1.notifications.requests.merged.fetch()).merged);
  await alice.v2.notifications.policy.update({ forNotFollowing: "accept" });
});

test("push subscription", async () => {
  const subscription = { endpoint: "https://push.example/1", keys: pushKeys() };
  const data = { alerts: { mention: true } };
  const created = await alice.v1.push.subscription.create({ subscription, data, policy: "all" });
  assert.equal(created.alerts.mention, true);
  assert.ok(created.serverKey);
  const updated = await alice.v1.push.subscription.update({ data: { alerts: { follow: true } }, policy: "all" });
  assert.equal(updated.alerts.follow, true);
  assert.equal((await alice.v1.push.subscription.fetch()).endpoint, subscription.endpoint);
  await alice.v1.push.subscription.remove();
  await fails(alice.v1.push.subscription.fetch(), 404);
});

// ---- Search, tags, trends ----

test("search", async () => {
  const [tag, unusual] = [word(), word()];
  const { id } = await publish(alice, `Hello ${unusual} #${tag}`);
  const search = (q) => alice.v2.search.list({ q });
  await eventually(async () => withId((await search(unusual)).statuses, id));
  await eventually(async () => (await search(tag)).hashtags.length === 1);
  assert.ok(withId((await search("bob")).accounts, bob.id));
});

test("followed tags", async () => {
  const tag = alice.v1.tags.$select("rookery");
  assert.equal((await tag.follow()).following, true);
  assert.equal((await alice.v1.followedTags.list())[0].name, "rookery");
  assert.equal((await tag.unfollow()).following, false);
  assert.equal((await tag.fetch()).name, "rookery");
});

test("featured tags", async () => {
  const { id } = await alice.v1.featuredTags.create({ name: "rookery" });
  assert.ok(withId(await bob.v1.accounts.$select(alice.id).featuredTags.list(), id));
  assert.ok(Array.isArray(await alice.v1.featuredTags.suggestions.list()));
  await alice.v1.featuredTags.$select(id).remove();
  assert.deepEqual(await alice.v1.featuredTags.list(), []);
});

test("featured tags of a newer server", async () => {
  assert.equal((await alice.v1.tags.$select("rookery").feature()).featuring, true);
  assert.equal((await alice.v1.tags.$select("rookery").unfeature()).featuring, false);
});

test("trends", async () => {
  assert.ok(Array.isArray(await anonymous.v1.trends.tags.list()));
  assert.ok(Array.isArray(await anonymous.v1.trends.statuses.list()));
  assert.ok(Array.isArray(await anonymous.v1.trends.links.list()));
});

test("reports", async () => {
  const { id } = await publish(bob, "Hello");
  const form = { accountId: bob.id, statusIds: [id], comment: "Why", category: "spam" };
  const report = await alice.v1.reports.create(form);
  assert.equal(report.category, "spam");
  assert.deepEqual(report.statusIds, [id]);
});

test("annual reports", async () => {
  assert.ok(Array.isArray((await alice.v1.annualReports.list()).annualReports));
});

test("collections", async () => {
  const form = { name: "Friends", accountIds: [bob.id], sensitive: false, discoverable: true };
  const { collection } = await alice.v1.collections.create(form);
  assert.equal((await alice.v1.collections.$select(collection.id).fetch()).collection.name, "Friends");
  await alice.v1.collections.$select(collection.id).remove();
});

// ---- Admin ----

test("admin accounts", async () => {
  const all = await owner.v1.admin.accounts.list();
  assert.ok(withId(all, alice.id).confirmed);
  assert.equal((await owner.v2.admin.accounts.list({ username: "alice" }))[0].id, alice.id);
  await fails(alice.v1.admin.accounts.$select(bob.id).fetch(), 403);
});

test("admin account actions", async () => {
  const target = owner.v1.admin.accounts.$select(carol.id);
  const act = (type) => target.action.create({ type, text: "a test", sendEmailNotification: false });
  for (const [type, lift, member] of [
    ["silence", "unsilence", "silenced"],
    ["sensitive", "unsensitive", "sensitized"],
    ["disable", "enable", "disabled"],
    ["suspend", "unsuspend", "suspended"],
  ]) {
    await act(type);
    assert.equal((await target.fetch())[member], true);
    assert.equal((await target[lift]())[member], false);
  }
  await fails(owner.v1.admin.accounts.$select(owner.id).action.create({ type: "suspend" }), 403);
});

test("admin reports", async () => {
  const { id } = await bob.v1.reports.create({ accountId: carol.id, comment: "a test" });
  assert.ok(withId(await owner.v1.admin.reports.list(), id));
  const report = owner.v1.admin.reports.$select(id);
  assert.equal((await report.fetch()).targetAccount.id, carol.id);
  assert.equal((await report.assignToSelf()).assignedAccount.id, owner.id);
  assert.equal((await report.unassign()).assignedAccount, null);
  assert.equal((await report.resolve()).actionTaken, true);
  assert.equal((await report.reopen()).actionTaken, false);
  await report.resolve();
});

test("admin domain blocks and allows", async () => {
  const blocks = owner.v1.admin.domainBlocks;
  const made = await blocks.create({ domain: `${word()}.test`, severity: "silence", publicComment: "a test" });
  assert.ok(withId(await blocks.list(), made.id));
  const one = blocks.$select(made.id);
  assert.equal((await one.update({ severity: "suspend" })).severity, "suspend");
  assert.equal((await one.fetch()).publicComment, "a test");
  await one.remove();
  await fails(one.fetch(), 404);
  const allows = owner.v1.admin.domainAllows;
  const allow = await allows.create({ domain: `${word()}.test` });
  assert.ok(withId(await allows.list(), allow.id));
  await allows.$select(allow.id).remove();
});

test("admin e-mail and IP blocks", async () => {
  const domains = owner.v1.admin.emailDomainBlocks;
  const domain = await domains.create({ domain: `${word()}.test` });
  assert.equal((await domains.$select(domain.id).fetch()).domain, domain.domain);
  await domains.$select(domain.id).remove();
  const addresses = owner.v1.admin.canonicalEmailBlocks;
  const address = await addresses.create({ email: "Some.One+x@mail.test" });
  assert.equal((await addresses.test({ email: "someone@mail.test" }))[0].id, address.id);
  await addresses.$select(address.id).remove();
  const blocks = owner.v1.admin.ipBlocks;
  const block = await blocks.create({ ip: "203.0.113.9", severity: "sign_up_block", comment: "a test" });
  assert.equal(block.ip, "203.0.113.9/32");
  assert.equal((await blocks.$select(block.id).update({ comment: "changed" })).comment, "changed");
  await blocks.$select(block.id).remove();
});

test("admin figures", async () => {
  const [startAt, endAt] = [-7, 0].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
  const [measure] = await owner.v1.admin.measures.create({ keys: ["new_users"], startAt, endAt });
  assert.ok(Number(measure.total) >= 4);
  const [software] = await owner.v1.admin.dimensions.create({ keys: ["software_versions"], startAt, endAt });
  assert.ok(software.data.length > 0);
  const cohorts = await owner.v1.admin.retention.create({ startAt, endAt, frequency: "day" });
  assert.equal(cohorts.length, 8);
});

test("admin trends", async () => {
  for (const kind of ["tags", "statuses", "links"]) {
    assert.ok(Array.isArray(await owner.v1.admin.trends[kind].list()));
  }
});

// ---- Streaming ----

/** Subscribes to a stream, does `act`, and then waits for an event of this type whose payload `matches` its result. */
async function streamed(person, subscribe, type, act, matches) {
  const { configuration } = await anonymous.v2.instance.fetch();
  const streaming = createStreamingAPIClient({
    streamingApiUrl: configuration.urls.streaming,
    accessToken: person.access_token,
    retry: false,
  });
  const events = [];
  try {
    collect(subscribe(streaming), events);
    await streaming.prepare();
    // A subscription has no response.
    await sleep(500);
    const result = await act();
    await eventually(() => events.some(({ event, payload }) => event === type && matches(payload, result)));
  } finally {
    streaming.close();
  }
}

async function collect(subscription, events) {
  for await (const event of subscription) events.push(event);
}

function sameId(payload, result) {
  return payload.id === result.id;
}

test("stream of the home timeline", () =>
  streamed(alice, (s) => s.user.subscribe(), "update", () => publish(alice, "Hello"), sameId));

test("stream of notifications", () => {
  const matches = (notification, status) => notification.status?.id === status.id;
  const subscribe = (s) => s.user.notification.subscribe();
  return streamed(alice, subscribe, "notification", () => publish(bob, "@alice hello"), matches);
});

test("stream of edits", async () => {
  const { id } = await publish(alice, "Before");
  const edit = () => alice.v1.statuses.$select(id).update({ status: "After" });
  await streamed(alice, (s) => s.user.subscribe(), "status.update", edit, sameId);
});

test("stream of deletions", async () => {
  const { id } = await publish(alice, "Hello");
  const remove = () => alice.v1.statuses.$select(id).remove();
  await streamed(alice, (s) => s.user.subscribe(), "delete", remove, (payload) => payload === id);
});

test("stream of changed filters", async () => {
  const filter = { title: "Words", context: ["home"], keywordsAttributes: [{ keyword: word() }] };
  const create = () => alice.v2.filters.create(filter);
  await streamed(alice, (s) => s.user.subscribe(), "filters_changed", create, () => true);
});

test("stream of the public timeline", () =>
  streamed(alice, (s) => s.public.subscribe(), "update", () => publish(bob, "Hello"), sameId));

test("stream of the local timeline", () =>
  streamed(alice, (s) => s.public.local.subscribe(), "update", () => publish(bob, "Hello"), sameId));

test("stream of a hashtag", () => {
  const tag = word();
  return streamed(alice, (s) => s.hashtag.subscribe({ tag }), "update", () => publish(bob, `Hello #${tag}`), sameId);
});

test("stream of a list", async () => {
  await alice.v1.accounts.$select(bob.id).follow();
  const { id } = await alice.v1.lists.create({ title: "Friends" });
  const list = alice.v1.lists.$select(id);
  await list.accounts.create({ accountIds: [bob.id] });
  await sleep(FILL_MS);
  await streamed(alice, (s) => s.list.subscribe({ list: id }), "update", () => publish(bob, "Hello"), sameId);
  await list.remove();
});

test("stream of conversations", () => {
  const direct = () => publish(bob, "@alice hello", { visibility: "direct" });
  const matches = (conversation, status) => conversation.lastStatus.id === status.id;
  return streamed(alice, (s) => s.direct.subscribe(), "conversation", direct, matches);
});
