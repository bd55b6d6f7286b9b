// Session files that the user edits: an edit becomes a recorded branch, and nothing is lost.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { fold, runStateView, toArray, type Event, type Fact } from '../src/core/index.ts';
import { openJsonl, verifyFile } from '../src/stores/index.ts';
import { readEffects, plan } from './crash/agent.ts';
import { assertEffects, assertLegal, assertNoLeftovers, readLogEvents, inspectSession } from './crash/checker.ts';
import { createFailingDisk } from './crash/faulty-disks.ts';
import { writeSessionBytes, getFinishedSession } from './crash/session-files.ts';
import { resumeScriptedSession } from './crash/session.ts';

/** Events without their positions. */
const getFacts = (events: readonly Event[]): readonly unknown[] =>
  events.map(({ seq: _seq, id: _id, parent: _parent, ...fact }) => fact);
const parseLine = (line: string | undefined): { [key: string]: unknown } =>
  JSON.parse(line ?? '{}') as { [key: string]: unknown };

/** Opens an edited file and checks what holds after every edit. */
async function openEditedSession(text: string): Promise<{
  readonly file: string;
  readonly events: readonly Event[];
  readonly branch: Event & { type: 'branch-started' };
}> {
  const { events: before } = await getFinishedSession();
  const { file } = writeSessionBytes(text);
  const { events, log } = await inspectSession(file);
  const branch = events.find((event) => event.type === 'branch-started');
  assert.equal(branch?.type, 'branch-started');
  assert.equal(branch.reason, 'edited');
  const edit = log.report.find((problem) => problem.backupFile?.endsWith('.edited-1'));
  assert.equal(edit?.kind, 'edited');
  assert.equal(fs.readFileSync(`${file}.edited-1`, 'utf8'), text, 'the edited file is kept as a copy');
  assert.ok(fs.readFileSync(file, 'utf8').startsWith(text), 'nothing was removed from the file');
  assertNoLeftovers(file, ['.edited-1']);
  const check = await verifyFile(file);
  assert.equal(check.ok, true);
  assert.ok(check.problems.some(({ kind, line, resolved }) => kind === 'edited' && resolved && line === edit.line));
  const again = await inspectSession(file);
  assert.deepEqual(again.events, events, 'opening it again changes nothing');
  assertNoLeftovers(file, ['.edited-1']);
  assert.equal(events[0]?.id, before[0]?.id);
  return { file, events, branch };
}

test('[J93] [D13] a session file is a versioned header and one readable event per line, each chained to the line before it', async () => {
  const { createHash } = await import('node:crypto');
  const { lines, events } = await getFinishedSession();
  const header = parseLine(lines[0]);
  assert.deepEqual(Object.keys(header), ['fairlead', 'session', 'created', 'hash']);
  assert.equal(header['fairlead'], 1);
  assert.equal(header['session'], 's1');
  let link = '';
  for (const [i, line] of lines.entries()) {
    const [, body = '', hash = ''] = /^(.*),"hash":"([\w-]{22})"\}\n$/.exec(line) ?? [];
    assert.equal(
      hash,
      createHash('sha256')
        .update(link + body)
        .digest('base64url')
        .slice(0, 22),
    );
    link = hash;
    if (i === 0) continue;
    const value = parseLine(line);
    assert.deepEqual(Object.keys(value).slice(0, 5), ['seq', 'id', 'parentId', 'time', 'type']);
    assert.equal(value['seq'], i);
    assert.equal(value['parentId'], events[i - 2]?.id ?? null);
    assert.equal(value['id'], events[i - 1]?.id);
  }
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
});

test('[J93] a tool result that the user edited is what the model sees from then on, on a branch that records the edit', async () => {
  const { lines, events } = await getFinishedSession();
  const { events: found, branch } = await openEditedSession(
    lines.with(14, (lines[14] ?? '').replace('done 2', 'done by hand')).join(''),
  );
  assert.match(
    branch.detail ?? '',
    /^Line 15 of 68 changed outside the program; .* kept in session\.jsonl\.edited-1\.$/,
  );
  assert.equal(branch.from, events[1]?.id);
  const state = fold(runStateView(), found);
  assert.ok(JSON.stringify(toArray(state.messages)).includes('done by hand'));
  assert.ok(!JSON.stringify(toArray(state.messages)).includes('done 2"'));
  assert.deepEqual(getFacts(found.slice(3)).length, events.length - 2);
  assert.equal(state.ended?.reason, 'answered');
});

test('[J93] lines that the user inserted, removed, moved or changed become a branch in the order of the file', async () => {
  const { lines, events } = await getFinishedSession();
  const note = { type: 'input-received', input: 'by-hand', how: 'follow-up', parts: [{ type: 'text', text: 'me' }] };
  const put = await openEditedSession(lines.toSpliced(10, 0, `${JSON.stringify(note)}\n`).join(''));
  assert.equal(put.events.length, events.length + 2);
  assert.ok(put.events.some((event) => event.type === 'input-received' && event.input === 'by-hand'));
  const out = await openEditedSession(lines.toSpliced(66, 1).join(''));
  assert.deepEqual(getFacts(out.events).slice(3), getFacts(events.toSpliced(65, 1)).slice(2));
  const moved = await openEditedSession(
    lines
      .with(9, lines[10] ?? '')
      .with(10, lines[9] ?? '')
      .join(''),
  );
  assert.deepEqual(getFacts(moved.events).slice(3), getFacts(events.with(8, events[9]!).with(9, events[8]!)).slice(2));
  const end = await openEditedSession(lines.with(67, (lines[67] ?? '').replace('answered', 'stuck')).join(''));
  assert.equal(fold(runStateView(), end.events).ended?.reason, 'stuck');
  const start = writeSessionBytes(lines.with(1, (lines[1] ?? '').replace('"s1"', '"s2"')).join(''));
  const { events: renamed } = await inspectSession(start.file);
  assert.equal(fold(runStateView(), renamed).session, 's2');
  assert.equal(renamed[0]?.type, 'branch-started');
  assert.equal((await verifyFile(start.file)).ok, true);
});

test('a file that another program rewrote line by line opens as one edit from its first event on', async () => {
  const { lines, events } = await getFinishedSession();
  const { file } = writeSessionBytes(
    lines.map((line) => `${JSON.stringify(parseLine(line), null, 1).replaceAll('\n', '')}\n`).join(''),
  );
  const { events: found } = await inspectSession(file);
  assert.deepEqual(getFacts(found.slice(1)), getFacts(events));
  assert.equal((await verifyFile(file)).ok, true);
});

test('[A24] a session edited during a run continues from the edit, and no effect happens twice', async () => {
  const { lines } = await getFinishedSession();
  for (const cut of [12, 14, 20, 23, 27]) {
    const text = lines.slice(0, cut).join('').replace('seen 0', 'seen by hand');
    const { file, ledger } = writeSessionBytes(text);
    const known = collectEffects(text);
    fs.writeFileSync(ledger, known.map((effect) => `${effect}\n`).join(''));
    const log = await openJsonl(file);
    const state = await resumeScriptedSession(log, ledger);
    const events = await readLogEvents(log);
    await log.close();
    assert.equal(state.ended?.reason, 'answered');
    assert.ok(JSON.stringify(toArray(state.messages)).includes('seen by hand'));
    assertLegal(state);
    assertEffects(events, ledger);
    assert.equal(new Set(readEffects(ledger)).size, plan.flat().filter((tool) => tool !== 'look').length);
  }
});

/** The effects whose calls were started, from the text of a session. */
const collectEffects = (text: string): readonly string[] => {
  const events = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Event);
  const started = new Set(events.flatMap((event) => (event.type === 'tool-started' ? [event.call] : [])));
  return events.flatMap((event) =>
    event.type === 'turn-ended'
      ? event.message.parts.flatMap((part) =>
          part.type === 'tool-call' && part.tool !== 'look' && started.has(part.id)
            ? [`${part.tool} ${(part.input as { n: number }).n}`]
            : [],
        )
      : [],
  );
};

test('an edited file that is opened for reading shows its content and is not changed', async () => {
  const { lines } = await getFinishedSession();
  const text = lines.with(14, (lines[14] ?? '').replace('done 2', 'done by hand')).join('');
  const { file } = writeSessionBytes(text);
  const log = await openJsonl(file, { mode: 'read' });
  const events = await readLogEvents(log);
  assert.ok(events.some((event) => event.type === 'tool-ended' && event.text === 'done by hand'));
  assert.equal(events.length, lines.length - 1);
  assert.deepEqual(
    log.report.map(({ kind, line }) => [kind, line]),
    [['edited', 15]],
  );
  await assert.rejects(log.append(67, []), { code: 'store/read-only' });
  await log.close();
  assert.equal(fs.readFileSync(file, 'utf8'), text);
  assertNoLeftovers(file);
});

test('an edited line that is not JSON or not an event is kept in a side file, with the reason', async () => {
  const { lines, events } = await getFinishedSession();
  const line = lines[14] ?? '';
  for (const [bad, why] of [
    [line.replace('"outcome":"ok"', '"outcome":ok'), /^Line 15 is not JSON/],
    [line.replace('"text":"done 2"', '"text":2'), /^Line 15 has no valid "text"/],
    [line.replace('tool-ended', 'tool-eaten'), /^Line 15 has the unknown type "tool-eaten"/],
  ] as const) {
    const { events: found, log } = await inspectSession(writeSessionBytes(lines.with(14, bad).join('')).file);
    assert.match(log.report[0]?.message ?? '', why);
    assert.equal(fs.readFileSync(log.report[0]?.backupFile ?? '', 'utf8'), bad);
    assert.deepEqual(found, events.toSpliced(13, 1));
  }
});

test('a file may be edited repeatedly, each time on its current branch', async () => {
  const { lines, events } = await getFinishedSession();
  const { file } = writeSessionBytes(lines.join('').replace('seen 0', 'seen once'));
  await inspectSession(file);
  for (const [what, instead] of [
    ['seen once', 'seen twice'],
    ['be good', 'be better'],
    ['seen twice', 'seen thrice'],
  ] as const) {
    const text = fs.readFileSync(file, 'utf8');
    const at = what === 'be good' ? text.indexOf(what) : text.lastIndexOf(what);
    fs.writeFileSync(file, text.slice(0, at) + instead + text.slice(at + what.length));
    const { events: found, state } = await inspectSession(file);
    assert.ok(JSON.stringify(found).includes(instead));
    assert.equal(found.filter(({ type }) => type === 'tool-ended').length, 20);
    assert.equal(state.ended?.reason, 'answered');
    assert.equal((await verifyFile(file)).ok, true);
  }
  const { state } = await inspectSession(file);
  assert.equal(state.system, 'be better');
  assert.ok(JSON.stringify(toArray(state.messages)).includes('seen thrice'));
  assert.equal(state.messages.length, fold(runStateView(), events).messages.length);
  assertNoLeftovers(file, ['.edited-1', '.edited-2', '.edited-3', '.edited-4']);
});

test('whatever the user writes into a line, the session opens, folds to a valid request, and continues', async () => {
  const { lines } = await getFinishedSession();
  const places = fc.record({ line: fc.integer({ min: 1, max: lines.length - 1 }), key: fc.nat(), inner: fc.nat() });
  await fc.assert(
    fc.asyncProperty(places, fc.option(fc.jsonValue(), { nil: undefined }), async ({ line, key, inner }, value) => {
      const event = parseLine(lines[line]);
      const keys = Object.keys(event);
      const name = keys[key % keys.length] ?? '';
      const old = event[name];
      if (typeof old === 'object' && old !== null && inner % 2) {
        const names = Object.keys(old);
        Object.assign(old, { [names[inner % names.length] ?? 'x']: value });
      } else event[name] = value;
      const { file, ledger } = writeSessionBytes(lines.with(line, `${JSON.stringify(event)}\n`).join(''));
      const { events } = await inspectSession(file);
      const log = await openJsonl(file);
      await log.append(events.at(-1)?.seq ?? 0, [createAnnotation('on')]);
      assert.equal((await readLogEvents(log)).length, events.length + 1);
      await log.close();
      assertLegal((await inspectSession(file)).state);
      assert.ok(ledger);
    }),
    { numRuns: 150 },
  );
});

test('a file changed in place while it is open is not written to any more, and the change is kept', async () => {
  const { lines, events } = await getFinishedSession();
  for (const instead of ['done by hand', 'done 9']) {
    const { file } = writeSessionBytes(lines.join(''));
    const log = await openJsonl(file);
    const { atime, mtime } = fs.statSync(file);
    fs.writeFileSync(file, lines.join('').replace('done 2', instead));
    // Two writes within one tick of the system clock have the same time.
    fs.utimesSync(file, atime, mtime);
    if (instead.length > 6) {
      await assert.rejects(log.append(67, [createAnnotation('x')], { durable: true }), {
        code: 'store/changed',
        hint: /branch/,
      });
      await assert.rejects(log.append(67, [createAnnotation('x')]), { code: 'store/changed' });
    }
    await log.close();
    const found = (await inspectSession(file)).events;
    assert.ok(found.some((event) => event.type === 'tool-ended' && event.text === instead));
    assert.ok(found.length > events.length, 'as a branch, not as damage');
  }
});

test('an edit on an abandoned branch is reported and changes nothing', async () => {
  const { lines, events } = await getFinishedSession();
  const { file } = writeSessionBytes(lines.join(''));
  const log = await openJsonl(file);
  await log.append(67, [{ type: 'branch-started', from: events[9]!.id, reason: 'rewound' }], { parent: events[9]!.id });
  await log.close();
  const text = fs.readFileSync(file, 'utf8').replace('done 19', 'done 99');
  fs.writeFileSync(file, text);
  const { events: found, log: opened } = await inspectSession(file);
  assert.deepEqual(found.slice(0, -1), events.slice(0, 10));
  assert.deepEqual(
    opened.report.map(({ kind, line }) => [kind, line]),
    [['edited', 65]],
  );
  assert.equal(fs.readFileSync(file, 'utf8'), text);
  assertNoLeftovers(file);
});

test('recording an edit is atomic, at whichever step the disk fails', async () => {
  const { lines } = await getFinishedSession();
  const text = lines.with(14, (lines[14] ?? '').replace('done 2', 'done by hand')).join('');
  for (let n = 1; ; n++) {
    const { file } = writeSessionBytes(text);
    const disk = createFailingDisk(n, 'EIO');
    const log = await openJsonl(file, { disk }).catch((error: { code?: string }) => {
      assert.match(error.code ?? '', /^store\//);
      return undefined;
    });
    await log?.close();
    assert.equal(disk.tally.open, 0, `step ${n} leaves no file open`);
    const { events } = await inspectSession(file);
    assert.ok(events.some((event) => event.type === 'tool-ended' && event.text === 'done by hand'));
    assert.equal(events.filter((event) => event.type === 'branch-started').length, 1);
    assert.equal((await verifyFile(file)).ok, true);
    if (disk.tally.failed === 0) break;
  }
});

const createAnnotation = (value: string): Fact => ({ type: 'annotation-added', key: 'k', value });

test('[M11] a session is a tree: it can continue from any event, and every branch can be read', async () => {
  const { file } = writeSessionBytes('');
  const log = await openJsonl(file, { session: 'tree' });
  const [a, b] = await log.append(0, [createAnnotation('a'), createAnnotation('b')]);
  const [c] = await log.append(2, [createAnnotation('c')]);
  const [d, e] = await log.append(3, [createAnnotation('d'), createAnnotation('e')], { parent: a!.id });
  const [f] = await log.append(5, [createAnnotation('f')], { parent: c!.id });
  await assert.rejects(log.append(6, [createAnnotation('x')], { parent: 'nobody' }), { code: 'store/unknown-event' });
  await assert.rejects(log.append(3, [createAnnotation('x')]), { code: 'store/conflict' });
  const check = async (from: typeof log): Promise<void> => {
    assert.deepEqual(await readLogEvents(from), [a, b, c, f]);
    assert.deepEqual(await readLogEvents(from, { at: e!.id }), [a, d, e]);
    assert.deepEqual(await readLogEvents(from, { at: b!.id }), [a, b]);
    assert.deepEqual(await readLogEvents(from, { at: a!.id }), [a]);
    await assert.rejects(readLogEvents(from, { at: 'nobody' }), { code: 'store/unknown-event' });
    const followed: Event[] = [];
    const stop = new AbortController();
    for await (const event of from.follow(1, stop.signal)) {
      followed.push(event);
      if (followed.length === 5) stop.abort();
    }
    assert.deepEqual(followed, [b, c, d, e, f]);
  };
  await check(log);
  await log.close();
  const again = await openJsonl(file);
  await check(again);
  const reader = await openJsonl(file, { mode: 'read' });
  await check(reader);
  const [g] = await again.append(6, [createAnnotation('g')], { parent: e!.id });
  assert.deepEqual(await readLogEvents(again), [a, d, e, g]);
  assert.deepEqual(await readLogEvents(reader), [a, d, e, g]);
  await reader.close();
  await again.close();
  assert.deepEqual(await verifyFile(file), { ok: true, events: 7, problems: [] });
});

test('events that are appended as facts get new positions, whatever the order of their keys', async () => {
  const { file } = writeSessionBytes('');
  const log = await openJsonl(file);
  const [first] = await log.append(0, [createAnnotation('a')]);
  const [copy] = await log.append(1, [first!]);
  const [odd] = await log.append(2, [{ value: 1, key: 'k', type: 'annotation-added' }]);
  assert.deepEqual([copy?.seq, copy?.parent, odd?.seq], [2, first?.id, 3]);
  assert.deepEqual(await readLogEvents(log), [first, copy, odd]);
  await log.close();
  const { events } = await inspectSession(file);
  assert.deepEqual(events, [first, copy, odd]);
});
