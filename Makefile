# What one does with this repository. Every target does its own set-up; `make` alone lists them.

# What `make run` builds with: `dev` shares what it compiles with `make test` and is there in half the time; `release` runs
# several times faster. `dist` is what releases are built with.
PROFILE ?= dev
# What `make run` starts: `make run ARGS="config print"`.
ARGS ?= serve

# The members of the workspace that are the server; the others are plugins and what they are made with.
SERVER := rookery $(patsubst src/%/Cargo.toml,rookery-%,$(wildcard src/*/Cargo.toml))
# The plugins that the server embeds.
PLUGINS := $(notdir $(patsubst %/plugin.toml,%,$(wildcard plugins/*/plugin.toml)))

# Tests that no database changes, of compilers and tools: on SQLite alone.
ON_ANY_DATABASE := plugins::examples plugins::author media_corpus media_worker tidy::

# Tests that the server without the platform need not pass again: they are long, and what they test is the same in both.
WITH_THE_PLATFORM := crash fuzz media_corpus media_worker moving_media tidy::

# Property tests draw the same cases on every run, so that whether a change lands is no lottery; `make fuzz` draws others.
export PROPTEST_RNG_SEED ?= 1

TOOLS := target/tools
DENY_VERSION := 0.20.2
DENY := $(TOOLS)/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
ADVISORIES := https://github.com/RustSec/advisory-db

.DEFAULT_GOAL := help
.PHONY: help build run dist test fuzz crash bench load clients lint layers doc plugins guests languages ffmpeg setup

help: ## List the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: plugins ## Build the server: target/release/rookery
	cargo build --release

run: plugins ## Build and start the server on http://localhost:3000; with PROFILE=release an optimised one
	cargo run --profile $(PROFILE) -- $(ARGS)

dist: plugins ## Build a release with LTO, as a tarball with its checksum: target/dist/rookery-VERSION-PLATFORM.tar.gz
	cargo build --profile dist
	.ci/dist

test: guests languages ffmpeg ## Run all tests on SQLite, then without the platform, then the API tests on a PostgreSQL of their own
	env -u TEST_DATABASE_URL cargo test
	cargo test --workspace $(SERVER:%=--exclude %)
	env -u TEST_DATABASE_URL cargo test --no-default-features --test api -- $(WITH_THE_PLATFORM:%=--skip %)
	.ci/with-postgres cargo test --test api -- $(ON_ANY_DATABASE:%=--skip %)

# Another seed on every run, which is printed: `make fuzz SEED=123` draws the same again.
fuzz: SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
fuzz: guests ## Send 20,000 generated requests to the routes, on each database, and 50,000 generated texts, documents and headers through each parser
	@echo "SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=50000 cargo test -p rookery-text tests::
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=50000 cargo test -p rookery-federation fuzz::
	env -u TEST_DATABASE_URL FUZZ_SEED=$(SEED) FUZZ_REQUESTS=20000 cargo test --test api fuzz
	FUZZ_SEED=$(SEED) FUZZ_REQUESTS=20000 .ci/with-postgres cargo test --test api fuzz

crash: guests ## Kill the server 50 times while it writes, on each database, and look at what is left
	env -u TEST_DATABASE_URL KILL_ROUNDS=50 cargo test --test api crash
	KILL_ROUNDS=50 .ci/with-postgres cargo test --test api crash

bench: guests ## Measure the release server beside the floor, on both databases, into tests/bench/RESULTS.md; with GROWTH=1 how costs grow
	.ci/results $(if $(GROWTH),growth,bench) .ci/with-postgres cargo bench -- $(if $(GROWTH),--growth)

# 10,000 streams with slow ones beside them, 20 restarts, two nodes on one PostgreSQL, 10,000 pushes, 20,000 deliveries.
load: guests ## Load the release server with streams, pushes and deliveries, stop it and start it, and keep the results
	@ulimit -n $$(ulimit -Hn) && .ci/results load .ci/with-postgres cargo bench -- slow restarts nodes pushes deliveries

# `make clients SERVER_PROGRAM=target/debug/rookery` with a program that exists; `SUITES="masto toot"` for some of the libraries.
clients: ffmpeg $(if $(SERVER_PROGRAM),,build) ## Run the tests of four Mastodon client libraries against the release server
	SERVER_PROGRAM=$(or $(SERVER_PROGRAM),target/release/rookery) tests/clients/run.py $(SUITES)

lint: guests $(DENY) ## Check format, lints, documentation and dependencies
	cargo fmt --all --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --no-default-features -- -D warnings
	cargo clippy --all-targets --workspace $(SERVER:%=--exclude %) -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items
	$(DENY) --log-level error --config .ci/deny.toml check licenses bans sources
	@if GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote --quiet $(ADVISORIES) HEAD >/dev/null 2>&1; then \
		echo "$(DENY) check advisories"; \
		$(DENY) --log-level error --config .ci/deny.toml check advisories; \
	else \
		echo "##  ADVISORIES NOT CHECKED: $(ADVISORIES) cannot be reached from here." >&2; \
	fi

layers: ## Print the graph of the server's crates, and the circles of imports inside each
	@.ci/layers

doc: setup ## Build the documentation: target/doc/context/index.html and those of the other crates
	cargo doc --no-deps --document-private-items

# With a Rust compiler of the distribution's packages: `make guests GUEST_TOOLCHAIN=packages`.
plugins: setup ## Build the plugins that the server embeds: target/guests
	plugin-sdk/tools/build-guests.sh $(PLUGINS)

guests: setup ## Build those, and the plugins of examples and tests
	plugin-sdk/tools/build-guests.sh

# `make languages LANGUAGES="c go"` for some of them.
languages: ## Get the compilers of the examples that are not in Rust: target/tools/bin
	plugin-sdk/tools/setup-languages.sh $(LANGUAGES)

ffmpeg: ## Get the programs that the tests of video and sound convert with: target/tools/bin
	.ci/ffmpeg

# Two minutes of processor time, once: with little optimisation, since it runs for a second.
$(DENY):
	CARGO_TARGET_DIR=$(TOOLS)/build CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		cargo install cargo-deny --quiet --locked --version $(DENY_VERSION) --root $(TOOLS)/cargo-deny-$(DENY_VERSION)
	rm -rf $(TOOLS)/build

setup:
	@command -v cargo >/dev/null || { echo "There is no cargo. Install Rust: https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq build-essential; } \
		|| { echo "There is no C compiler. On Debian: apt-get install build-essential" >&2; exit 1; }
