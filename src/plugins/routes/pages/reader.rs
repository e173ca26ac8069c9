//! The reader of a page, signed in or not: the calls of the plugin on their behalf, and their errors.

use std::sync::Arc;

use rookery_plugin_host::exports::pages::{Request as PageRequest, View};
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord};
use rookery_plugin_host::{CallError, CallErrorKind, Part};

use super::view;
use crate::Cx;
use crate::call::{Call, Caller, Mode};
use crate::error::{is_own_mistake, no_answer, refused};
use crate::routes::gate::rank;
use crate::routes::table::MountedPage;
use context::error::{Error, NoAnswer};
use model::Actor;

/// The reader of a page.
pub(super) struct Reader {
    pub(super) cx: Cx,
    pub(super) core: rookery_http::Cx,
    pub(super) mounted: Arc<MountedPage>,
    /// None on a page for anyone, also for people who are signed in.
    pub(super) actor: Option<Arc<Actor>>,
    /// The parameters of the path.
    pub(super) params: Vec<(String, String)>,
    /// The position of a following page.
    pub(super) after: Option<String>,
}

impl Reader {
    /// Requests the content of the page from the plugin.
    ///
    /// # Errors
    /// [`Reader::failed`], and [`Reader::nonsense`] for content that is not valid.
    pub(super) async fn view(&self) -> Result<View, Error> {
        let call = Call::new(&self.cx, &self.mounted.plugin, Part::Routes, self.caller(), Mode::Read);
        let shown = self.mounted.plugin.component.page(call, self.request()).await;
        let view = shown.map_err(|cause| self.failed(cause))?;
        view::check(&view).map_err(|why| self.nonsense(why))?;
        Ok(view)
    }

    pub(super) fn caller(&self) -> Caller {
        let actor = self.actor.as_deref();
        Caller {
            role: rank(actor),
            locale: self.core.language().code().to_owned(),
            request_id: self.core.request_id().unwrap_or_default().to_owned(),
            scopes: actor.map(|actor| actor.scopes.iter().map(str::to_owned).collect()).unwrap_or_default(),
            actor: self.actor.clone(),
            app: None,
            author: None,
        }
    }

    /// The request as the plugin receives it.
    pub(super) fn request(&self) -> PageRequest {
        let caller = self.caller();
        let wall = self.mounted.plugin.component.limits().route_wall;
        let record = CallerRecord {
            account: self.person(),
            token: None,
            scopes: caller.scopes,
            role: caller.role,
            locale: caller.locale,
            app: None,
        };
        PageRequest {
            ctx: CallContext {
                request_id: caller.request_id,
                caller: record,
                budget_ms: u32::try_from(wall.as_millis()).unwrap_or(u32::MAX),
            },
            page: self.mounted.page().id.clone(),
            params: self.params.clone(),
            after: self.after.clone(),
        }
    }

    fn person(&self) -> Option<i64> {
        self.actor.as_ref().map(|actor| actor.id.into())
    }

    /// The error of a call that failed; recorded for the admin unless the plugin meant it. A mistake of the plugin's is none
    /// of the person's: 500, as on routes.
    pub(super) fn failed(&self, cause: CallError) -> Error {
        let plugin = &self.mounted.plugin;
        let cause = self.cx.plugins.pauses.as_busy_if_paused(plugin, cause);
        let is_mistake = cause.failure.as_ref().is_some_and(is_own_mistake);
        if is_mistake || cause.failure.as_ref().is_none_or(|failure| !(400..500).contains(&failure.status)) {
            self.cx.plugins.report(plugin, "page", &self.mounted.page().id, &cause);
        }
        match cause.failure {
            Some(failure) if !is_mistake => refused(failure),
            Some(_) | None => no_answer(plugin.name(), cause.kind, None),
        }
    }

    /// The error of an answer that is none.
    pub(super) fn nonsense(&self, message: String) -> Error {
        let plugin = &self.mounted.plugin;
        let person = self.person();
        let cause = CallError { kind: CallErrorKind::Trap, message, failure: None, backtrace: Vec::new(), person };
        self.cx.plugins.report(plugin, "page", &self.mounted.page().id, &cause);
        Error::Plugin(NoAnswer { plugin: plugin.name().to_owned(), code: "plugin.output", status: 502 })
    }
}
