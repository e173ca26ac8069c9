//! The methods of a route with their handlers: axum handlers that also declare their operation.

use std::fmt;
use std::future::Future;

use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::response::Response;
use futures_util::future::BoxFuture;

use super::{Describe, Operation, Respond};

/// Adds the arguments and the response of a handler to the declaration of its operation.
pub(crate) type Declare = fn(&mut Operation);

/// The handlers of a path by method: made by [`get`], [`post`] and the others.
#[derive(Debug, Default)]
pub struct Methods {
    handlers: Vec<MethodHandler>,
    /// What [`any`] made.
    other: Option<Endpoint>,
}

/// A method with its handler.
#[derive(Debug)]
struct MethodHandler {
    method: Method,
    endpoint: Endpoint,
    declare: Declare,
}

/// A handler with its extractors, of any type.
pub(crate) struct Endpoint(Box<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>);

impl Endpoint {
    /// The future is the handler's own: nothing more is allocated.
    fn new<H, T>(handler: H) -> Self
    where
        H: Handler<T, (), Future = BoxFuture<'static, Response>>,
    {
        Self(Box::new(move |request| handler.clone().call(request, ())))
    }

    /// Answers `request`.
    pub(crate) fn call(&self, request: Request) -> BoxFuture<'static, Response> {
        (self.0)(request)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endpoint")
    }
}

impl Methods {
    /// What answers `method`: HEAD is answered as GET, whose body is left out later.
    pub(crate) fn endpoint(&self, method: &Method) -> Option<&Endpoint> {
        let found = self.handler(method).map(|handler| &handler.endpoint);
        found.or(self.other.as_ref())
    }

    /// The declaration of the operation by the handler of `method`.
    pub(crate) fn declare(&self, method: &Method) -> Option<Declare> {
        self.handler(method).map(|handler| handler.declare)
    }

    /// Every method with its declaration.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&Method, Declare)> {
        self.handlers.iter().map(|handler| (&handler.method, handler.declare))
    }

    fn handler(&self, method: &Method) -> Option<&MethodHandler> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.handlers.iter().find(|handler| handler.method == *method)
    }
}

/// A handler whose signature declares the operation: `Arguments` is the tuple of the arguments' types.
pub trait Described<Arguments> {
    /// Adds the requirements of all arguments, and the schema of the response.
    fn describe(operation: &mut Operation);
}

macro_rules! described {
    ($($argument:ident),*) => {
        impl<F, Response, $($argument),*> Described<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Response,
            Response: Future,
            Response::Output: Respond,
            $($argument: Describe,)*
        {
            fn describe(operation: &mut Operation) {
                $($argument::describe(operation);)*
                operation.response = Response::Output::schema();
            }
        }
    };
}

described!();
described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);
described!(A, B, C, D, E);
described!(A, B, C, D, E, G);
described!(A, B, C, D, E, G, H);
described!(A, B, C, D, E, G, H, I);

macro_rules! methods {
    ($($name:ident = $method:ident),+ $(,)?) => {
        $(
            #[doc = concat!("Answers ", stringify!($method), " by `handler`.")]
            pub fn $name<H, T, A>(handler: H) -> Methods
            where
                H: Handler<T, (), Future = BoxFuture<'static, Response>> + Described<A>,
            {
                Methods::default().$name(handler)
            }
        )+

        impl Methods {
            $(
                #[doc = concat!("Answers ", stringify!($method), " by `handler` as well.")]
                #[must_use]
                pub fn $name<H, T, A>(mut self, handler: H) -> Self
                where
                    H: Handler<T, (), Future = BoxFuture<'static, Response>> + Described<A>,
                {
                    let endpoint = Endpoint::new(handler);
                    self.handlers.push(MethodHandler { method: Method::$method, endpoint, declare: H::describe });
                    self
                }
            )+
        }
    };
}

methods! {
    get = GET,
    post = POST,
    put = PUT,
    patch = PATCH,
    delete = DELETE,
}

/// Answers every method by `handler`. That is no operation: documents do not list it.
pub fn any<H, T>(handler: H) -> Methods
where
    H: Handler<T, (), Future = BoxFuture<'static, Response>>,
{
    Methods { handlers: Vec::new(), other: Some(Endpoint::new(handler)) }
}
