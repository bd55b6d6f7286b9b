// Law 2: killed before any append, at any byte of the file, or by the system at any moment, a session resumes and ends with the same result.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { FairleadError, lastItem, messageText, type Event, type Log, type RunState } from '../src/core/index.ts';
import { openJsonl, verifyFile } from '../src/stores/index.ts';
import { readEffects, plan } from './crash/agent.ts';
import { assertEffects, assertLegal, assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import { createRandom, unsyncedDisk } from './crash/faulty-disks.ts';
import {
  createSessionFiles,
  getFinishedSession,
  tempDir,
  writeSessionBytes,
  type SessionFiles,
} from './crash/session-files.ts';
import { resumeScriptedSession } from './crash/session.ts';
import { bundleProgram } from './support/bundle.ts';

const program = await bundleProgram(path.join(import.meta.dirname, 'crash/crashing-process.ts'));

async function finishSession(file: string, ledger: string): Promise<RunState> {
  const log = await openJsonl(file, { session: 's1', disk: unsyncedDisk });
  const state = await resumeScriptedSession(log, ledger);
  assertEffects(await readLogEvents(log), ledger);
  await log.close();
  assertEnded(state);
  return state;
}

function assertEnded(state: RunState): void {
  assertLegal(state);
  assert.equal(state.ended?.reason, 'answered');
  const answer = lastItem(state.messages);
  assert.equal(answer && messageText(answer), 'all done');
  assert.equal(state.messages.length, 1 + 2 * plan.length + 1);
}

const allEffects = plan.flatMap((tools, turn) =>
  tools.flatMap((tool, i) => (tool === 'look' ? [] : [`${tool} ${plan.slice(0, turn).flat().length + i}`])),
);

const killedError = new FairleadError('test/killed', 'killed', { blame: 'store' });

test('[A24] killed before every single append, a run resumes and ends with the same result, each effect exactly once', async () => {
  for (let n = 1; ; n++) {
    const { file, ledger } = createSessionFiles();
    const log = await openJsonl(file, { session: 's1', disk: unsyncedDisk });
    let appends = 0;
    const mortal: Log = {
      ...log,
      append: (...given) => (++appends < n ? log.append(...given) : Promise.reject(killedError)),
    };
    const died = await resumeScriptedSession(mortal, ledger).then(
      () => false,
      (error: unknown) => error === killedError,
    );
    const copy = `${file}.copy`;
    fs.copyFileSync(file, copy);
    await log.close();
    await finishSession(copy, ledger);
    assert.deepEqual([...new Set(readEffects(ledger))], allEffects);
    if (died) continue;
    assert.ok(n > 40, `only ${n} appends`);
    break;
  }
});

/** Resumes from a prefix of a session, with the effects that had started by then. */
async function resumeFrom(text: string, known: readonly Event[]): Promise<void> {
  const { file, ledger } = writeSessionBytes(text);
  const started = known.flatMap((event) => (event.type === 'tool-started' ? [event.call] : []));
  const calls = known.flatMap((event) =>
    event.type === 'turn-ended' ? event.message.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : [])) : [],
  );
  const effects = calls.filter(({ id, tool }) => started.includes(id) && tool !== 'look');
  fs.writeFileSync(ledger, effects.map(({ tool, input }) => `${tool} ${(input as { n: number }).n}\n`).join(''));
  await finishSession(file, ledger);
  assert.deepEqual([...new Set(readEffects(ledger))], allEffects);
}

test('[A24] [J93] a session file truncated at every line opens, resumes and ends', async () => {
  const { lines, events } = await getFinishedSession();
  for (let n = 1; n <= lines.length; n++) await resumeFrom(lines.slice(0, n).join(''), events.slice(0, n - 1));
});

test('[A24] [J93] a session file truncated at every byte of its last line opens, resumes and ends', async () => {
  const { lines, events } = await getFinishedSession();
  const before = lines.slice(0, -1).join('');
  const end = lines.at(-1) ?? '';
  for (let n = 0; n < end.length; n++) await resumeFrom(before + end.slice(0, n), events.slice(0, -1));
});

test('a session file truncated at every byte of its header and first events opens with the remaining events', async () => {
  const { lines } = await getFinishedSession();
  const text = lines.slice(0, 3).join('');
  for (let n = 0; n < text.length; n++) {
    const { file } = writeSessionBytes(text.slice(0, n));
    const { events } = await inspectSession(file);
    const whole = text.slice(0, n + 1).split('\n').length - 2;
    assert.equal(events.length, Math.max(0, whole));
    assert.equal((await verifyFile(file)).ok, true);
  }
});

/** Runs a session in another process; `kill` returns after each output line whether, and after how many ms, to kill it. */
async function runKilledSession(
  args: readonly string[],
  kill: (lines: number) => number | undefined = () => undefined,
): Promise<{ readonly saved: number; readonly said: string; readonly signal: string | null }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let lines = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    while (lines < said.split('\n').length - 1) {
      const wait = kill(++lines);
      if (wait === 0) child.kill('SIGKILL');
      else if (wait !== undefined) setTimeout(() => child.kill('SIGKILL'), wait);
    }
  });
  const signal = await new Promise<string | null>((resolve) => {
    child.on('close', (_code, by) => resolve(by));
  });
  const saved = Number(/saved (\d+)\n(?!.*saved)/s.exec(said)?.[1] ?? 0);
  return { saved, said, signal };
}

/** Asserts that a session that ended at a moment has what it acknowledged, and finishes it. */
async function assertPrefixAndFinish({ file, ledger }: SessionFiles, saved: number, change: number): Promise<void> {
  if (fs.existsSync(file)) {
    const { events } = await inspectSession(file, { mode: change % 2 ? 'read' : 'write' }).catch(
      async (error: { code?: string }) => {
        // Killed between creating the file and writing its header: there is nothing to read yet.
        assert.equal(fs.statSync(file).size, 0, String(error));
        return inspectSession(file);
      },
    );
    assert.ok(events.length >= saved, `change ${change}: ${saved} acknowledged, ${events.length} found`);
    assertEffects(events, ledger);
  } else assert.equal(saved, 0);
  await finishSession(file, ledger);
  assertNoLeftovers(file);
}

test('fault 1: what the disk has after every change, and after kill -9, is a prefix of the acknowledged history, and the session ends', async () => {
  const { file, ledger } = createSessionFiles();
  const copies = path.join(tempDir, 'copies');
  // A process that ends leaves what it has written, so a copy is what kill -9 at that moment leaves, with the lock of a process that is gone.
  const { said } = await runKilledSession([file, ledger, copies]);
  const changes = Number(/after (\d+) changes/.exec(said)?.[1]);
  assert.ok(changes > 80, `${changes} changes`);
  for (let n = 1; n <= changes; n++) {
    const copied = (name: string): string => path.join(copies, String(n), name);
    const files = { file: copied(path.basename(file)), ledger: copied(path.basename(ledger)) };
    await assertPrefixAndFinish(files, Number(fs.readFileSync(copied('saved'), 'utf8')), n);
  }
  for (let n = 1; n <= changes; n += 9) {
    const killed = createSessionFiles();
    const { saved, signal } = await runKilledSession([killed.file, killed.ledger, String(n)]);
    assert.equal(signal, 'SIGKILL');
    await assertPrefixAndFinish(killed, saved, n);
  }
});

const kills = Number(process.env['FAIRLEAD_KILLS'] ?? 30);
const seed = Number(process.env['FAIRLEAD_SEED'] ?? Date.now() % 1_000_000);

test(`[A24] [M11] ${kills} times kill -9 at random moments: nothing acknowledged is lost, no effect happens twice`, async (t) => {
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  const random = createRandom(seed);
  let done = 0;
  let sessions = 0;
  let [happened, once] = [0, 0];
  while (done < kills) {
    const { file, ledger } = createSessionFiles();
    let saved = 0;
    for (let ended = false; !ended;) {
      const after = Math.floor(random() ** 2 * 24) + 1;
      const wait = random() < 0.5 ? 0 : random() * 8;
      const lived = await runKilledSession([file, ledger], (lines) =>
        done < kills && lines === after ? wait : undefined,
      );
      saved = Math.max(saved, lived.saved);
      ended = lived.signal === null;
      if (!ended) done++;
      if (!fs.existsSync(file) || fs.statSync(file).size === 0) continue;
      // In half of the cases the file stays as the killed process left it, including its lock, for the next process to take over.
      const { events, state } = await inspectSession(file, { mode: random() < 0.5 ? 'read' : 'write' });
      assert.ok((events.at(-1)?.seq ?? 0) >= saved, `${saved} acknowledged, ${events.at(-1)?.seq} found, seed ${seed}`);
      assertEffects(events, ledger);
      if (ended) assertEnded(state);
    }
    sessions++;
    const effects = readEffects(ledger).filter((effect) => !effect.startsWith('put'));
    happened += new Set(effects).size;
    once += effects.filter((effect) => effects.indexOf(effect) === effects.lastIndexOf(effect)).length;
    // The part of a line that a process wrote before it was killed is kept beside the file.
    const torn = fs.readdirSync(path.dirname(file)).flatMap((name) => /\.torn-\d+$/.exec(name)?.[0] ?? []);
    assertNoLeftovers(file, torn);
    assert.equal((await verifyFile(file)).ok, true);
  }
  t.diagnostic(`${done} kills over ${sessions} sessions`);
  t.diagnostic(`measured crash-runs-ended ${sessions}/${sessions}`);
  t.diagnostic(`measured effects-once ${once}/${happened}`);
});
