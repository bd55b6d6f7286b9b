// Tests of opening a page in the browser.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { waitUntil } from '../../../test/support/cli-harness.ts';
import { openInBrowser } from './open-browser.ts';

const skip = process.platform === 'linux' ? false : 'the program has another name here';

test(
  'attack 38: a page is opened by the program of the system, never by one with its name in the directory',
  { skip },
  async (t) => {
    const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-browser-')));
    t.after(() => rmSync(top, { recursive: true, force: true }));
    const [folder, search] = [process.cwd(), process.env['PATH']];
    t.after(() => process.chdir(folder));
    t.after(() => (process.env['PATH'] = search));
    const bins = ['work/.venv/bin', 'system'].map((name) => path.join(top, name));
    for (const bin of bins) {
      mkdirSync(bin, { recursive: true });
      writeFileSync(path.join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > '${bin}/opened'\n`, { mode: 0o755 });
    }
    process.chdir(path.join(top, 'work'));
    process.env['PATH'] = [...bins, search].join(path.delimiter);
    assert.equal(openInBrowser('file:///etc/passwd'), false);
    assert.equal(openInBrowser('https://example.org/login'), true);
    await waitUntil('the page is opened', () => bins.some((bin) => existsSync(path.join(bin, 'opened'))));
    assert.deepEqual(
      bins.map((bin) => existsSync(path.join(bin, 'opened'))),
      [false, true],
    );
  },
);
