// An external call that was interrupted by kill -9: the same call again waits for approval, in every later process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { PendingApproval } from '../src/core/index.ts';

const program = path.join(import.meta.dirname, 'crash/paying-process.ts');

type Reported = { readonly status: string; readonly text: string; readonly pending: readonly PendingApproval[] };

for (const how of ['run', 'stream'] as const)
  for (const [answer, paid, text] of [
    ['approve', 2, /paid/],
    ['reject', 1, /Denied by user/],
  ] as const)
    test(`[A53, A112] after kill -9 inside an external call, ${how}() does not repeat the call without a question; ${answer}`, (t) => {
      const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-repeated-'));
      t.after(() => rmSync(dir, { recursive: true, force: true }));
      const ledger = path.join(dir, 'ledger');
      const start = (next: string): string => {
        const { stdout, stderr, signal } = spawnSync(
          process.execPath,
          [program, path.join(dir, 'pay.jsonl'), ledger, next],
          { encoding: 'utf8', timeout: 30_000 },
        );
        assert.equal(signal, next === 'die' ? 'SIGKILL' : null, stderr);
        return stdout;
      };
      const payments = (): number => readFileSync(ledger, 'utf8').trim().split('\n').length;
      start('die');
      assert.equal(payments(), 1);
      const waiting = JSON.parse(start(how)) as Reported;
      assert.deepEqual([waiting.status, payments()], ['waiting', 1]);
      assert.equal(
        waiting.pending[0]?.question,
        'Run pay with {"usd":5}?\nAn earlier call with the same input was interrupted; it may have happened.\nThis is asked each time.',
      );
      const ended = JSON.parse(start(answer)) as Reported;
      assert.deepEqual([ended.status, payments()], ['success', paid]);
      assert.match(ended.text, text);
    });
