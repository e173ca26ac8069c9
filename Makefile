# What one does with this repository. Every target does its own set-up; `make` alone lists them.

# What `make run` builds with: `dev` shares what it compiles with `make test` and is there in half the time; `release` runs
# several times faster. `dist` is what releases are built with.
PROFILE ?= dev
# What `make run` starts: `make run ARGS="config print"`.
ARGS ?= serve

# The plugins that the server embeds.
PLUGINS := $(notdir $(patsubst %/plugin.toml,%,$(wildcard plugins/*/plugin.toml)))

# Tests that run once, on SQLite, since no database changes their result: compilers and tools; files, media and processes; texts,
# signatures and documents; pages and the formats of streams; connections; the life of plugins, whose statements have tests.
ONCE := \
	plugins::author plugins::cookbook plugins::examples plugins::frozen plugins::group_routes plugins::install \
	plugins::lifecycle plugins::openapi plugins::pages plugins::reload plugins::routes \
	platform::contract platform::declarations platform::headers platform::media_corpus platform::media_worker platform::openapi \
	platform::rate_limits platform::route_table platform::serve platform::tidy platform::traces platform::without_plugins \
	platform::bodies_in_flight platform::unread_bodies platform::domain_policy::running \
	federation::documents federation::hostile::answers federation::hostile::content federation::hostile::documents \
	federation::hostile::signatures federation::operators federation::signed_reads federation::software \
	routes::markdown routes::media routes::moving_media routes::object_storage routes::oembed routes::still_pictures routes::translations \
	routes::well_known web::languages web::pages browser:: streaming::batches streaming::connections streaming::ways_in

# Tests of media, which run again with their files in a bucket: `TEST_STORAGE=s3 cargo test --test api media` is one of them.
MEDIA := \
	federation::remote_media \
	routes::media routes::moving_media routes::still_pictures routes::later_versions routes::custom_emojis routes::credentials \
	jobs::archives jobs::cards jobs::removal platform::media_corpus platform::media_worker

# How guests are compiled: `guest-quick` for development and tests, `guest` for everything that is measured or shipped.
GUEST_PROFILE ?= $(if $(filter dev,$(PROFILE)),guest-quick,guest)
export GUEST_PROFILE

# Property tests draw the same cases on every run, so that whether a change lands is no lottery; `make fuzz` draws others.
export PROPTEST_RNG_SEED ?= 1
# Many tests wait for a timer or another process: more of them at once than cores.
export RUST_TEST_THREADS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

TOOLS := target/tools
DENY_VERSION := 0.20.2
# Kept for the machine, not for the clone.
DENY_FOLDER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rookery-tools/cargo-deny-$(DENY_VERSION)
DENY := $(DENY_FOLDER)/bin/cargo-deny
ADVISORIES := https://github.com/RustSec/advisory-db

.DEFAULT_GOAL := help
.PHONY: help build run dist test nightly fuzz crash bench load clients lint layers doc core plugins guests languages ffmpeg browser screenshots setup

build dist bench load clients: GUEST_PROFILE := guest

help: ## List the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: plugins ## Build the server: target/release/rookery
	cargo build --release

run: plugins ## Build and start the server on http://localhost:3000; with PROFILE=release an optimised one
	cargo run --profile $(PROFILE) -- $(ARGS)

dist: plugins ## Build a release with LTO, as a tarball with its checksum: target/dist/rookery-VERSION-PLATFORM.tar.gz
	cargo build --profile dist
	.ci/dist

# With `--workspace`, here and below: crates are compiled for the features of all members, and again for another choice of members.
test: guests languages ffmpeg browser core ## Run all tests on SQLite, then those that a database may change on a PostgreSQL of their own
	env -u TEST_DATABASE_URL CORE_PROGRAM=$(CORE_PROGRAM) cargo test --workspace --no-fail-fast
	.ci/with-postgres cargo test --workspace --test api -- $(ONCE:%=--skip %)

# What takes minutes of a compiler, of a disk or of a network: nothing that a change is likely to break unnoticed.
nightly: guests languages ffmpeg ## Run the long tests: examples in every language, media in a bucket, generated requests, kills, load, client libraries
	env -u TEST_DATABASE_URL cargo test --test api -- --ignored --skip forty_large_files
	env -u TEST_DATABASE_URL cargo test --test api -- --ignored forty_large_files
	env -u TEST_DATABASE_URL TEST_STORAGE=s3 cargo test --test api -- $(MEDIA)
	for target in fuzz crash load clients; do $(MAKE) --no-print-directory $$target || exit; done

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
	cargo clippy --workspace --all-targets -- -D warnings
	cargo check --workspace --test api --no-default-features
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

# The program without the platform, which one test starts. Copied, since every build has the same name.
CORE_PROGRAM := $(CURDIR)/target/core/rookery
core: setup
	cargo build --workspace --bin rookery --no-default-features
	@mkdir -p $(dir $(CORE_PROGRAM)) && cp -f $(or $(CARGO_TARGET_DIR),target)/debug/rookery $(CORE_PROGRAM)

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

browser: ## Get Chromium, its driver and axe-core for the tests of pages, where they can be had
	.ci/browser

screenshots: guests browser ## Keep a picture of every page, in both schemes, wide and narrow: target/screenshots
	env -u TEST_DATABASE_URL SCREENSHOTS=$(CURDIR)/target/screenshots cargo test --test api browser::pages

# A minute of processor time, once: without optimisation, since it runs for a second.
$(DENY):
	CARGO_TARGET_DIR=$(TOOLS)/build CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		CARGO_PROFILE_RELEASE_LTO=off cargo install cargo-deny --quiet --locked --version $(DENY_VERSION) --root $(DENY_FOLDER)
	rm -rf $(TOOLS)/build

setup:
	@command -v cargo >/dev/null || { echo "There is no cargo. Install Rust: https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq build-essential; } \
		|| { echo "There is no C compiler. On Debian: apt-get install build-essential" >&2; exit 1; }
