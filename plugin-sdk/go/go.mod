// What the bindings that wit-bindgen makes for Go lean on, so that a plugin is built without a module proxy.
module go.bytecodealliance.org/pkg

go 1.25
