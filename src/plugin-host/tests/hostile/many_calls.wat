;; exports: decorate
;; Not hostile, for the benchmark: calls `config.version` as many times as the viewer's id says.
(import "rookery:plugin/config@0.1.0" "version" (func $version (result i64)))
(func (export "rookery:plugin/decorate@0.1.0#decorate") (param i32) (param $left i64) (param i32 i32 i32 i32)
  (result i32)
  (block $done
    (loop $again
      (br_if $done (i64.eqz (local.get $left)))
      (drop (call $version))
      (local.set $left (i64.sub (local.get $left) (i64.const 1)))
      (br $again)))
  (call $fine))
