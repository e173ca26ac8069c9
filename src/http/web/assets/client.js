/* Rookery: what makes the pages of people who are signed in quicker. Every page works without it; whatever fails here falls back
   to the ordinary form or link. No other host, nothing inline. Words come from the page (#words), in its language.

   Parts: acts in place, new posts over the stream, keyboard, writing (length, files, completion, drafts), pictures, push, offline. */
"use strict";
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const words = find("#words")?.dataset;
  if (!words) return;
  /* What is kept in the browser is of one person, until they sign out. */
  if (localStorage.getItem("me") !== words.me) {
    localStorage.clear();
    sessionStorage.clear();
    localStorage.setItem("me", words.me);
  }
  const fill = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
  const later = (work, pause) => {
    let timer;
    return (...given) => { clearTimeout(timer); timer = setTimeout(() => work(...given), pause); };
  };
  const element = (name, values = {}, ...children) => {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children);
    return made;
  };
  /** Sends a form's fields; the response, or an error for any status but 2xx and 422. */
  const send = async (url, fields) => {
    const response = await fetch(url, { method: "POST", body: new URLSearchParams(fields), headers: { accept: "text/html" } });
    if (!response.ok || response.redirected) throw new Error(String(response.status));
    return response;
  };

  /* Says something to people who see the page and to those who hear it. */
  const say = (text) => {
    const region = find("#says");
    region.replaceChildren(element("p", { className: "flash notice float", textContent: text }));
    setTimeout(() => region.replaceChildren(), 6000);
  };

  /* Dates are short, and of the time zone of this browser. */
  const dates = (within = document) => {
    const today = new Date();
    const { lang } = document.documentElement;
    const tongue = navigator.languages.find((one) => one.startsWith(lang)) ?? lang;
    for (const time of all(".when, .when time, .quoted time", within).filter((one) => one.dateTime)) {
      const date = new Date(time.dateTime);
      const show = (options) => date.toLocaleString(tongue, options);
      const clock = { hour: "numeric", minute: "2-digit" };
      time.title = show({ dateStyle: "full", timeStyle: "short" });
      time.textContent = date.toDateString() === today.toDateString() ? show(clock)
        : show({ day: "numeric", month: "short", ...(date.getFullYear() === today.getFullYear() ? clock : { year: "numeric" }) });
    }
  };
  dates();

  /* ---- acts in place ---- */

  /** Sends the form as a browser without scripts does. */
  const sendPlainly = (form, button) => {
    if (button?.name) form.append(element("input", { type: "hidden", name: button.name, value: button.value }));
    HTMLFormElement.prototype.submit.call(form);
  };

  const act = async (form, button) => {
    const article = form.closest(".status");
    const fields = new FormData(form, button);
    fields.set("part", "1");
    form.setAttribute("aria-busy", "true");
    try {
      const shown = find(".status", parsed(await (await send(form.action, fields)).text()));
      if (!shown) {
        step(article, 1)?.focus();
        article.remove();
        say(words.deleted);
        return;
      }
      const key = button?.dataset.key;
      for (const part of [".acts", ".poll-box", ".reactions"]) {
        const [old, fresh] = [find(part, article), find(part, shown)];
        if (old && fresh) old.replaceWith(fresh);
      }
      (key ? find(`.acts [data-key="${key}"]`, article) : article)?.focus();
    } catch {
      sendPlainly(form, button);
    }
  };

  document.addEventListener("submit", (event) => {
    const [form, button] = [event.target, event.submitter];
    if (button?.dataset.confirm && !confirm(button.dataset.confirm)) {
      event.preventDefault();
      return;
    }
    if (form.action.endsWith("/auth/sign_out")) {
      localStorage.clear();
      sessionStorage.clear();
    }
    if (form.matches(".acts, .vote, .reactions") && !button?.hasAttribute("formaction")) {
      event.preventDefault();
      act(form, button);
    } else if (form.matches("[data-publish]")) {
      forgetDraft();
    }
  });

  /* One menu is open at a time; a click elsewhere and Escape close it. */
  document.addEventListener("click", (event) => {
    for (const menu of all(".act-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });

  /* A menu that would end below the window, or behind the navigation of phones, is scrolled to. */
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches(".act-menu[open]")) find(".act-list", target).scrollIntoView({ block: "nearest" });
  }, true);

  /* The entry of the page is in sight where the navigation scrolls. */
  const here = find(".rail [aria-current]");
  if (here) {
    const [rail, box] = [here.closest(".rail"), here.getBoundingClientRect()];
    rail.scrollLeft += box.left + box.width / 2 - rail.clientWidth / 2;
  }

  /* ---- new posts ---- */

  const timeline = find("#timeline[data-stream]");
  let source, waiting = new Set();

  const listen = () => {
    if (source || document.hidden) return;
    const stream = timeline?.dataset.stream ?? "user:notification";
    source = new EventSource(`/web/stream?stream=${stream}`);
    const heard = (event) => {
      const id = JSON.parse(event.data).id;
      if (timeline && !find(`#timeline > [data-id="${id}"]`)) {
        waiting.add(id);
        offerNewer();
      }
    };
    source.addEventListener("update", (event) => stream === "user:notification" || heard(event));
    source.addEventListener("notification", (event) => {
      find('.rail a[href="/notifications"]')?.classList.add("has-news");
      if (stream === "user:notification") heard(event);
    });
    source.addEventListener("delete", (event) => {
      waiting.delete(event.data);
      find(`#timeline > [data-id="${event.data}"]`)?.remove();
    });
  };
  const rest = () => { source?.close(); source = undefined; };
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", listen);

  /** The bar above the timeline; nothing moves until it is pressed. */
  const offerNewer = () => {
    let bar = find(".newer-bar");
    if (!bar) {
      const button = element("button", { className: "button primary", type: "button", onclick: showNewer });
      bar = element("div", { className: "newer-bar" }, button);
      bar.setAttribute("role", "status");
      timeline.before(bar);
    }
    bar.firstChild.textContent = fill(timeline.dataset.new, { count: waiting.size });
  };

  const showNewer = async () => {
    const url = new URL(location.href);
    url.searchParams.set("since_id", timeline.dataset.newest ?? "");
    const response = await fetch(url).catch(() => undefined);
    const page = response?.ok ? parsed(await response.text()) : undefined;
    if (!page || !timeline.dataset.newest || find(".pages [rel=next]", page)) return location.reload();
    const fresh = all("#timeline > [data-id]", page).filter((one) => !document.getElementById(one.id));
    waiting = new Set();
    find(".newer-bar")?.remove();
    find(".empty", timeline)?.remove();
    timeline.prepend(...fresh);
    fresh.forEach((one) => dates(one));
    timeline.dataset.newest = find("#timeline", page).dataset.newest || timeline.dataset.newest;
    scrollTo(0, 0);
    fresh[0]?.focus();
  };

  /* The place is kept when somebody comes back to a page. */
  const place = `place ${location.pathname}${location.search}`;
  const items = () => all("#main .status, #main .notice").filter((one) => !one.parentElement.closest(".notice, .quoted"));
  const inView = () => items().find((one) => one.getBoundingClientRect().bottom > 80);
  addEventListener("pagehide", () => {
    const one = inView();
    sessionStorage.setItem(place, one ? `${one.dataset.id} ${one.getBoundingClientRect().top}` : "");
  });
  if (["back_forward", "reload"].includes(performance.getEntriesByType("navigation")[0]?.type) && !location.hash) {
    const [last, top] = (sessionStorage.getItem(place) ?? "").split(" ");
    const kept = last && find(`#main [data-id="${last}"]`);
    if (kept) {
      history.scrollRestoration = "manual";
      scrollTo({ top: scrollY + kept.getBoundingClientRect().top - top, behavior: "instant" });
    }
  }

  /* ---- keyboard ---- */

  const step = (from, by) => {
    const list = items();
    const at = from ? list.indexOf(from) : -1;
    return at < 0 ? inView() : list[at + by];
  };
  const current = () => document.activeElement?.closest(".status, .notice") ?? undefined;
  const press = (key) => { const one = current() ?? inView(); if (one) find(`[data-key="${key}"]`, one)?.click(); };
  const go = (path) => location.assign(path);
  const places = { h: "/home", n: "/notifications", l: "/public/local", t: "/public", b: "/bookmarks", f: "/favourites", c: "/conversations",
    e: "/explore", s: "/settings" };
  const keys = {
    j: () => step(current(), 1)?.focus(),
    k: () => step(current(), -1)?.focus(),
    n: () => (find("#short-text") ?? find("#text"))?.focus() ?? (find("#short-text, #text") || go("/publish")),
    r: () => press("r"), e: () => press("e"), f: () => press("f"), b: () => press("b"), d: () => press("d"), q: () => press("q"),
    x: () => { const one = current(); if (one) for (const fold of all("details.cw", one)) fold.open = !fold.open; },
    o: () => find("a.when", current() ?? document.body)?.click(),
    ".": () => find(".newer-bar button")?.click(),
    "/": () => (find("#q") ? find("#q").focus() : go("/search")),
    "?": () => find("#help")?.showModal(),
  };
  let afterG = false;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      for (const menu of all(".act-menu[open]")) { menu.open = false; find("summary", menu).focus(); }
    }
    const typing = event.target.closest("input, textarea, select, [contenteditable], dialog");
    if (typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const wanted = afterG ? places[event.key] && (() => go(places[event.key])) : keys[event.key];
    afterG = !afterG && event.key === "g";
    if (!wanted) return;
    event.preventDefault();
    wanted();
  });
  find("#help button")?.addEventListener("click", () => find("#help").close());

  /* ---- writing ---- */

  const writing = () => find("form[data-publish]");

  const count = later(async (form) => {
    const limit = Number(form.dataset.limit);
    const fields = { csrf: form.elements.csrf.value, text: form.elements.text.value, spoiler_text: form.elements.spoiler_text?.value ?? "" };
    const length = await send("/web/length", fields).then((response) => response.text()).catch(() => undefined);
    const shown = find("[data-length]", form);
    if (length === undefined || !shown) return;
    shown.textContent = length;
    shown.parentElement.classList.toggle("over", Number(length) > limit);
  }, 250);

  /* Drafts: in this browser at once, on the server a moment later, for other devices. */
  const draftKey = ({ elements }) =>
    `draft ${["in_reply_to_id", "quoted_status_id", "redraft"].map((name) => elements[name]?.value ?? "").join(" ")}`;
  const draftId = (form) => `${draftKey(form)} id`;
  /* What was sent is forgotten on the next page, if that says that it worked; a page of an error keeps it. */
  const sent = sessionStorage.getItem("sent");
  sessionStorage.removeItem("sent");
  if (sent && find(".flash.notice") && !writing()) for (const key of [sent, `${sent} id`]) localStorage.removeItem(key);
  const forgetDraft = () => {
    const form = writing();
    if (form && !form.elements.edit) sessionStorage.setItem("sent", draftKey(form));
    saveDraft.stopped = true;
  };
  const saveDraft = later(async (form) => {
    if (saveDraft.stopped || form.elements.edit || !form.elements.draft_id) return;
    if (!form.elements.text.value.trim() && !form.elements.draft_id.value && !find(".attached", form)) return;
    const fields = new FormData(form);
    for (const name of [...fields.keys()]) if (fields.get(name) instanceof File) fields.delete(name);
    fields.set("act", "save");
    fields.set("part", "1");
    const id = await send(form.action, fields).then((response) => response.text()).catch(() => undefined);
    if (!id || saveDraft.stopped) return;
    writing().elements.draft_id.value = id;
    localStorage.setItem(draftId(form), id);
  }, 2000);

  const wrote = (form) => {
    count(form);
    if (form.elements.edit) return;
    localStorage.setItem(draftKey(form), form.elements.text.value);
    saveDraft(form);
  };

  /** Uploads what was chosen, and shows the form that the server responds with. */
  const upload = (form) => {
    const request = new XMLHttpRequest();
    const fields = new FormData(form);
    fields.set("act", "upload");
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", words.uploading);
    find("[data-files]", form)?.append(bar);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
    request.addEventListener("load", () => {
      const page = parsed(request.responseText);
      const fresh = find("form[data-publish]", page);
      if (!fresh) {
        bar.remove();
        return say(find("h1", page)?.textContent ?? String(request.status));
      }
      const [text, start] = [form.elements.text.value, form.elements.text.selectionStart];
      find("#refused")?.remove();
      const refused = find("#refused", page);
      form.replaceWith(fresh);
      if (refused) fresh.before(refused);
      fresh.elements.text.value = text;
      fresh.elements.text.setSelectionRange(start, start);
      begin(fresh);
      find("#refused, .attached:last-of-type textarea")?.focus();
    });
    request.addEventListener("error", () => { bar.remove(); say(words.offline); });
    request.open("POST", form.action);
    request.send(fields);
  };

  const give = (form, files) => {
    const empty = all('input[type="file"]', form).filter((input) => !input.files.length);
    files.slice(0, empty.length).forEach((file, index) => {
      const box = new DataTransfer();
      box.items.add(file);
      empty[index].files = box.files;
    });
    if (files.length && empty.length) upload(form);
  };

  const begin = (form) => {
    const { text, offset } = form.elements;
    offset.value = new Date().getTimezoneOffset();
    const zone = find("[data-zone]", form);
    if (zone) zone.textContent = `(${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
    const kept = form.elements.edit ? undefined : localStorage.getItem(draftKey(form));
    const untouched = !form.elements.draft_id?.value && !find("#refused") && text.value === text.defaultValue;
    if (kept?.trim() && kept.trim() !== text.value.trim() && untouched && kept.startsWith(text.defaultValue.trim())) {
      text.value = kept;
      if (form.elements.draft_id) form.elements.draft_id.value = localStorage.getItem(draftId(form)) ?? "";
      say(words.restored);
    }
    if (!text.selectionStart) text.setSelectionRange(text.value.length, text.value.length);
    form.addEventListener("input", () => wrote(form));
    form.addEventListener("change", (event) => event.target.type === "file" && event.target.files.length && upload(form));
    form.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length) { event.preventDefault(); give(form, files); }
    });
    form.addEventListener("dragover", (event) => event.preventDefault());
    form.addEventListener("drop", (event) => {
      if (event.dataTransfer.files.length) { event.preventDefault(); give(form, [...event.dataTransfer.files]); }
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(find("[data-publish-button]", form));
    });
    complete(text);
    count(form);
  };

  /* Completion of people, hashtags and emojis: a list below the text (the combobox pattern of ARIA). */
  const complete = (text) => {
    const list = element("ul", { className: "completion", id: `${text.id}-completion`, hidden: true });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", words.suggestions);
    text.after(list);
    text.setAttribute("aria-autocomplete", "list");
    text.setAttribute("aria-controls", list.id);
    let chosen = -1;
    const close = () => { list.hidden = true; list.replaceChildren(); chosen = -1; text.removeAttribute("aria-activedescendant"); };
    const begun = () => /(?:^|[\s(])([@#:][\p{L}\p{N}_.@-]{1,60})$/u.exec(text.value.slice(0, text.selectionStart))?.[1];
    const take = (value) => {
      const [start, end] = [text.selectionStart - begun().length, text.selectionStart];
      text.setRangeText(`${value} `, start, end, "end");
      close();
      text.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const mark = (to) => {
      chosen = (to + list.children.length) % list.children.length;
      [...list.children].forEach((one, index) => one.setAttribute("aria-selected", String(index === chosen)));
      text.setAttribute("aria-activedescendant", list.children[chosen].id);
    };
    const look = later(async () => {
      const word = begun();
      if (!word || word.length < 2) return close();
      const found = await fetch(`/web/completions?q=${encodeURIComponent(word)}`).then((response) => response.json()).catch(() => []);
      if (begun() !== word || !found.length) return close();
      list.replaceChildren(...found.map((one, index) => {
        const item = element("li", { id: `${list.id}-${index}` });
        if (one.picture) item.append(element("img", { src: one.picture, alt: "", width: 24, height: 24 }));
        item.append(element("span", { textContent: one.name }), element("span", { className: "muted", textContent: one.value }));
        item.setAttribute("role", "option");
        item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(one.value); });
        item.dataset.value = one.value;
        return item;
      }));
      list.hidden = false;
      mark(0);
    }, 150);
    text.addEventListener("input", look);
    text.addEventListener("blur", close);
    text.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      const moves = { ArrowDown: () => mark(chosen + 1), ArrowUp: () => mark(chosen - 1), Escape: close };
      const accept = () => take(list.children[chosen].dataset.value);
      const wanted = moves[event.key] ?? (["Enter", "Tab"].includes(event.key) && !event.ctrlKey ? accept : undefined);
      if (wanted) { event.preventDefault(); event.stopPropagation(); wanted(); }
    });
  };

  if (writing()) begin(writing());
  all("#short-text").forEach(complete);

  /* ---- pictures ---- */

  const look = (links, at) => {
    const picture = element("img", { src: links[at].href, alt: find("img", links[at])?.alt ?? "" });
    const caption = element("figcaption", { textContent: picture.alt });
    const dialog = element("dialog", { className: "viewer" });
    const turn = (by) => {
      at = (at + by + links.length) % links.length;
      picture.src = links[at].href;
      picture.alt = caption.textContent = find("img", links[at])?.alt ?? "";
    };
    const button = (text, sign, work) => {
      const made = element("button", { type: "button", className: "button", textContent: sign, onclick: work });
      made.setAttribute("aria-label", text);
      return made;
    };
    const buttons = element("p", { className: "actions" });
    if (links.length > 1) buttons.append(button(words.previous, "←", () => turn(-1)), button(words.next, "→", () => turn(1)));
    buttons.append(button(words.close, "×", () => dialog.close()));
    dialog.append(element("figure", {}, picture, caption), buttons);
    dialog.setAttribute("aria-label", words.viewer);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("keydown", (event) => {
      if (links.length > 1 && event.key === "ArrowLeft") turn(-1);
      if (links.length > 1 && event.key === "ArrowRight") turn(1);
    });
    document.body.append(dialog);
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".media a:not(.attachment)");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const links = all("a:not(.attachment)", link.closest(".media"));
    look(links, links.indexOf(link));
  });

  /* ---- push by the browser, and the line when offline ---- */

  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const text64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const switchPush = async (form) => {
    const worker = await navigator.serviceWorker.ready;
    const known = await worker.pushManager.getSubscription();
    const csrf = form.elements.csrf.value;
    const button = find("button", form);
    const show = (on) => { button.textContent = on ? form.dataset.off : form.dataset.on; };
    show(known);
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const had = await worker.pushManager.getSubscription();
      try {
        if (had) {
          await had.unsubscribe();
          await send(form.action, { csrf, act: "off" });
          return show(false);
        }
        const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.key) });
        await send(form.action, { csrf, act: "on", endpoint: made.endpoint, p256dh: text64(made.getKey("p256dh")), auth: text64(made.getKey("auth")) });
        show(true);
      } catch {
        say(form.dataset.refused);
      }
    });
  };
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.register("/sw.js").catch(() => undefined);
    const form = find("form[data-push]");
    if (form && "PushManager" in window) switchPush(form);
  }
  const offline = () => {
    find(".offline")?.remove();
    if (navigator.onLine) return;
    const line = element("p", { className: "offline", textContent: words.offline });
    line.setAttribute("role", "status");
    find("main").prepend(line);
  };
  addEventListener("online", offline);
  addEventListener("offline", offline);
  offline();
})();
