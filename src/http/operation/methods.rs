//! The methods of a route with their handlers, like axum's, which also know what their handlers take.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{self, MethodRouter};

use super::{Describe, Operation};

/// What a handler adds to the declaration of its operation.
pub(crate) type Declare = fn(&mut Operation);

/// What [`get`] and its like make.
#[derive(Debug, Default)]
pub struct Methods {
    pub(crate) router: MethodRouter,
    pub(crate) described: Vec<(Method, Declare)>,
}

/// A handler whose arguments say what they ask of a request: `Arguments` is the tuple of their types.
pub trait Described<Arguments> {
    /// Adds what all of them ask.
    fn describe(operation: &mut Operation);
}

macro_rules! described {
    ($($argument:ident),*) => {
        impl<F, Answer, $($argument),*> Described<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Answer,
            $($argument: Describe,)*
        {
            fn describe(_operation: &mut Operation) {
                $($argument::describe(_operation);)*
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
                H: Handler<T, ()> + Described<A>,
                T: 'static,
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
                    H: Handler<T, ()> + Described<A>,
                    T: 'static,
                {
                    self.router = self.router.$name(handler);
                    self.described.push((Method::$method, H::describe));
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
    H: Handler<T, ()>,
    T: 'static,
{
    Methods { router: routing::any(handler), described: Vec::new() }
}
