# What one does with this repository. Every target does its own set-up; `make` alone lists them.

# `make run PROFILE=dev` builds sooner and runs slower.
PROFILE ?= release
# What `make run` starts: `make run ARGS="config print"`.
ARGS ?= serve

# The members of the workspace that are the server; the others are plugins and what they are made with.
SERVER := rookery $(patsubst src/%/Cargo.toml,rookery-%,$(wildcard src/*/Cargo.toml))

TOOLS := target/tools
DENY_VERSION := 0.20.2
DENY := $(TOOLS)/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
ADVISORIES := https://github.com/RustSec/advisory-db

.DEFAULT_GOAL := help
.PHONY: help build run test bench lint doc guests languages setup

help: ## List the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build: guests ## Build the server: target/release/rookery
	cargo build --release

run: guests ## Build and start the server on http://localhost:3000
	cargo run --profile $(PROFILE) -- $(ARGS)

test: guests languages ## Run all tests on SQLite, then the API tests on a PostgreSQL of their own
	env -u TEST_DATABASE_URL cargo test
	cargo test --workspace $(SERVER:%=--exclude %)
	.ci/with-postgres cargo test --test api

bench: guests ## Measure the release server against the floor
	cargo bench

lint: guests $(DENY) ## Check format, lints, documentation and dependencies
	cargo fmt --all --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --all-targets --workspace $(SERVER:%=--exclude %) -- -D warnings
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

# With a Rust compiler of the distribution's packages: `make guests GUEST_TOOLCHAIN=packages`.
guests: setup ## Build the plugins: target/guests
	plugin-sdk/tools/build-guests.sh

# `make languages LANGUAGES="c go"` for some of them.
languages: ## Get the compilers of the examples that are not in Rust: target/tools/bin
	plugin-sdk/tools/setup-languages.sh $(LANGUAGES)

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
