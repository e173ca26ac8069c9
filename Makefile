# What one does with this repository. Every target does its own set-up; `make` alone lists them.

# `make run PROFILE=dev` builds sooner and runs slower.
PROFILE ?= release
# What `make run` starts: `make run ARGS="config print"`.
ARGS ?= serve

TOOLS := target/tools
DENY_VERSION := 0.20.2
DENY := $(TOOLS)/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
ADVISORIES := https://github.com/RustSec/advisory-db

.DEFAULT_GOAL := help
.PHONY: help build run test bench lint doc setup

help: ## List the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: setup ## Build the server: target/release/rookery
	cargo build --release

run: setup ## Build and start the server on http://localhost:3000
	cargo run --profile $(PROFILE) -- $(ARGS)

test: setup ## Run all tests on SQLite, then the API tests on a PostgreSQL of their own
	env -u TEST_DATABASE_URL cargo test
	.ci/with-postgres cargo test --test api

bench: setup ## Measure the release server against the floor
	cargo bench

lint: setup $(DENY) ## Check format, lints, documentation and dependencies
	cargo fmt --all --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
	$(DENY) --log-level error --config .ci/deny.toml check licenses bans sources
	@if GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote --quiet $(ADVISORIES) HEAD >/dev/null 2>&1; then \
		echo "$(DENY) check advisories"; \
		$(DENY) --log-level error --config .ci/deny.toml check advisories; \
	else \
		echo "##  ADVISORIES NOT CHECKED: $(ADVISORIES) cannot be reached from here." >&2; \
	fi

doc: setup ## Build the documentation: target/doc/rookery/index.html
	cargo doc --no-deps --document-private-items

# Two minutes of processor time, once: with little optimisation, since it runs for a second.
$(DENY):
	CARGO_TARGET_DIR=$(TOOLS)/build CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off \
		CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		cargo install cargo-deny --quiet --locked --version $(DENY_VERSION) --root $(TOOLS)/cargo-deny-$(DENY_VERSION)
	rm -rf $(TOOLS)/build

setup:
	@command -v cargo >/dev/null || { echo "There is no cargo. Install Rust: https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq build-essential; } \
		|| { echo "There is no C compiler. On Debian: apt-get install build-essential" >&2; exit 1; }
