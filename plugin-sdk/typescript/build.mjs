#!/usr/bin/env node
// Makes a component of a plugin in TypeScript: `node "$ROOKERY_BINDINGS/build.mjs" index.ts`, run by `npm run build`.
//
// Bundles with esbuild, then componentises with componentize-js. In between, the bundle gets a table of which line of which
// source each of its lines is, by which `rookery` gives errors the author's file and line.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const source = process.argv[2];
const { ROOKERY_WIT, ROOKERY_OUTPUT } = process.env;
if (!source || !ROOKERY_WIT || !ROOKERY_OUTPUT) {
  console.error('build.mjs is run by `rookery plugin build`, with the file of the plugin');
  process.exit(2);
}
const bundle = `target/plugin/${basename(source).replace(/\.[^.]*$/, '')}.js`;

function run(tool, ...args) {
  try {
    execFileSync(tool, args, { stdio: 'inherit' });
  } catch (error) {
    process.exit(error.status || 1);
  }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The numbers of one segment of a source map (VLQ). */
function numbers(segment) {
  const found = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = letters.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (!(digit & 32)) {
      found.push(value & 1 ? -(value >> 1) : value >> 1);
      value = shift = 0;
    }
  }
  return found;
}

/** For each line of the bundle the index of its source and the line there, from 1; nothing for generated lines. */
function table({ mappings }) {
  let [file, line] = [0, 0];
  return mappings.split(';').map((segments) => {
    let first;
    for (const segment of segments.split(',').filter(Boolean)) {
      const [, files, lines] = numbers(segment);
      if (files === undefined) continue;
      file += files;
      line += lines;
      first ??= [file, line + 1];
    }
    return first ?? 0;
  });
}

run('esbuild', source, '--bundle', '--format=esm', '--external:rookery:*', '--log-level=warning', '--sourcemap=external',
  '--sources-content=false', `--outfile=${bundle}`);
const map = JSON.parse(readFileSync(`${bundle}.map`, 'utf8'));
const sources = map.sources.map((path) => path.replace(/^(\.\.\/)*/, '').replace(/^bindings\//, 'rookery/'));
const lines = JSON.stringify({ sources, lines: table(map) });
writeFileSync(bundle, `${readFileSync(bundle, 'utf8')}\nglobalThis.__rookeryLines = ${lines};\n`);
run('componentize-js', bundle, '--wit', ROOKERY_WIT, '--world-name', 'plugin', '--out', ROOKERY_OUTPUT, '--disable', 'random',
  'stdio', 'clocks', 'http', 'fetch-event');
