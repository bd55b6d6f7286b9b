// `fairlead verify` in the real program: calibrates on labels, stores, lists, measures, and abstains until calibrated.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calibrate, decide } from '../src/checks/index.ts';
import { listCalibrations, readCalibration } from '../src/coding-agent/calibrations/index.ts';
import { isObject, type JsonObject } from '../src/core/index.ts';
import type { VerificationReport } from '../src/checks/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel } from './support/scripted-judges.ts';

const key = { model: 'a/b', task: 'questions', verifier: 'samples-1' };

/** Writes labels: above 0.7 one in fifty is wrong, below every second. */
function writeLabels(program: TestProgram, count: number): string {
  const file = path.join(program.cwd, 'labels.jsonl');
  const lines = Array.from({ length: count }, (_, i) => {
    const confidence = 1 - i / count;
    return JSON.stringify({ confidence, correct: i % (confidence > 0.7 ? 50 : 2) !== 1 });
  });
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** The data directory of the program's own home. */
const dataDir = (program: TestProgram): string => path.dirname(program.data('calibrations'));

test('[A47] a first start has no calibration, and too few labels make it abstain always', async (t) => {
  const program = await createProgram(t);
  const empty = await program.run(['verify', 'calibrations']);
  assert.deepEqual([empty.code, empty.out.startsWith('No calibrations.')], [0, true]);
  const dirs = { data: dataDir(program) };
  const missing = readCalibration(dirs, key);
  assert.deepEqual(missing, { problem: 'Not calibrated for a/b, questions, samples-1.' });
  assert.equal(decide(1, missing.calibration).type, 'abstain');
  const few = await program.call(['verify', 'calibrate', writeLabels(program, 30), '--model', 'a/b']);
  assert.equal(few.code, 1);
  assert.match(few.out, /No threshold: every answer is abstained from\. There are 30 labels; .* need 59 or more\./);
  assert.equal(decide(1, readCalibration(dirs, key).calibration).type, 'abstain');
  assert.match(
    (await program.call(['verify', 'calibrations'])).out,
    /a\/b +questions +samples-1 +30 +5 % at 95 % +abstains +0 %/,
  );
});

test('[A46] labels give the threshold of a target error rate, which is shown with its curve, stored and used', async (t) => {
  const program = await createProgram(t);
  const args = [
    'verify',
    'calibrate',
    writeLabels(program, 2_000),
    '--model',
    'a/b',
    '--max-error',
    '5%',
    '--probability',
    '95%',
  ];
  const shown = await program.call(args);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^COVERAGE +CONFIDENCE +ERRORS/);
  assert.match(shown.out, /\n100 % .*#/);
  assert.match(shown.out, /The error rate is at most \d(?:\.\d)? % with a probability of 95 %; the target is 5 %\./);
  const dirs = { data: dataDir(program) };
  const { calibration } = readCalibration(dirs, key);
  const threshold = calibration?.threshold ?? 0;
  assert.ok(threshold > 0.6 && threshold < 0.7, String(threshold));
  assert.deepEqual([decide(0.9, calibration).type, decide(0.5, calibration).type], ['accept', 'abstain']);
  assert.equal(readCalibration(dirs, { ...key, verifier: 'samples-2' }).calibration, undefined);
  const json = JSON.parse((await program.call([...args, '--json'])).out) as Record<string, unknown>;
  assert.deepEqual([json['threshold'], json['labels'], json['dataset']], [threshold, 2_000, calibration?.dataset]);
  const [file = ''] = readdirSync(program.data('calibrations'));
  assert.equal(statSync(path.join(program.data('calibrations'), file)).mode & 0o777, 0o600);
});

test('[A47] a damaged calibration means "not calibrated" with one sentence', async (t) => {
  const program = await createProgram(t);
  await program.call(['verify', 'calibrate', writeLabels(program, 2_000), '--model', 'a/b']);
  const [name = ''] = readdirSync(program.data('calibrations'));
  const file = path.join(program.data('calibrations'), name);
  const whole = readFileSync(file, 'utf8');
  const dirs = { data: dataDir(program) };
  for (const damaged of [
    '',
    whole.slice(0, 200),
    whole.replace('"a/b"', '"other"'),
    whole.replace(/"errors":\d+/g, '"errors":1999'),
  ]) {
    writeFileSync(file, damaged);
    const found = readCalibration(dirs, key);
    assert.equal(found.calibration, undefined);
    assert.match(
      'problem' in found ? found.problem : '',
      /^Not calibrated for a\/b, questions, samples-1: .* is damaged\.$/,
    );
    assert.equal(listCalibrations(dirs).problems.length, 1);
  }
  const listed = await program.call(['verify', 'calibrations']);
  assert.match(listed.err, /^Not calibrated: .*json is damaged\.\n$/);
});

test('[A29, A46] recorded samples are measured and calibrated from the command line', async (t) => {
  const program = await createProgram(t);
  const file = path.join(program.cwd, 'samples.jsonl');
  const cities = ['Canberra', 'Sydney', 'Perth', 'Hobart', 'Darwin'];
  const lines = Array.from({ length: 120 }, (_, i) => {
    const sure = i % 3 !== 0;
    const samples = Array.from({ length: 10 }, (__, j) => (sure ? 'Canberra.' : (cities[(i + j) % 5] ?? '')));
    return JSON.stringify({
      id: `q${i}`,
      set: 'cities',
      question: 'Capital of Australia?',
      generated_answer: ['Canberra'],
      label: sure ? 'True' : 'False',
      self_evaluations: samples,
    });
  });
  writeFileSync(file, lines.join('\n'));
  const measured = await program.call(['verify', 'measure', '--file', file]);
  assert.match(measured.out, /cities +5 +120 +33\.3 % +1\.000 \(1\.000 to 1\.000\)/);
  const halves = ['first', 'second'].map((half) => program.call(['verify', 'measure', file, '--half', half, '--json']));
  const counts = (await Promise.all(halves)).map(
    ({ out }) => (JSON.parse(out) as { readonly answers: number }[])[0]?.answers ?? 0,
  );
  assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 120);
  const calibrated = await program.call(['verify', 'calibrate', file, '--model', 'a/b']);
  assert.match(calibrated.out, /Accept from a confidence of 1\.000: 80 of 120 labels \(66\.7 %\), 0 errors\./);
});

test('[A46] wrong arguments and wrong labels are named', async (t) => {
  const program = await createProgram(t);
  const file = path.join(program.cwd, 'labels.jsonl');
  writeFileSync(file, '{"confidence":0.5,"correct":true}\n{"confidence":5,"correct":true}\n');
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[], 2, /Usage/],
    [['guess'], 2, /no subcommand "guess"/],
    [['calibrate'], 2, /A file with labelled answers is needed/],
    [['calibrate', 'none.jsonl', '--model', 'm'], 1, /cannot be read/],
    [['calibrate', file, '--model', 'm'], 1, /Line 2 has a `confidence` that is not a number from 0 to 1/],
    [['calibrate', file, '--max-error', 'low'], 2, /--max-error is a percentage/],
    [['calibrate', file, '--model', 'm', '--max-error', '0%'], 1, /Line 2|not above 0/],
    [['measure', file, '--samples', '3'], 2, /from 5 to 100/],
    [['measure', file, '--half', 'third'], 2, /first or second/],
  ];
  for (const [args, code, message] of cases) {
    const { code: got, err } = await program.call(['verify', ...args]);
    assert.equal(got, code, args.join(' '));
    assert.match(err, message);
  }
});

test('[A46] a calibration does not depend on the order of the labels', () => {
  const outcomes = Array.from({ length: 500 }, (_, i) => ({ confidence: (i % 100) / 100, correct: i % 100 > 60 }));
  const target = { maxErrorRate: 0.1, probability: 0.9 };
  assert.deepEqual(calibrate({ outcomes, ...target }), calibrate({ outcomes: outcomes.toReversed(), ...target }));
});

function readSystem(body: JsonObject): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
}

test('[A46, A47] verify-full with a target error rate abstains until calibrated, then accepts only above the threshold', async (t) => {
  const capital = 'Canberra is the capital of Australia.';
  const scattered = ['Sydney.', 'Perth.', 'Hobart.', 'Darwin.'];
  let isSure = true;
  let asked = 0;
  const program = await createProgram(
    t,
    ({ model, prompt, body }) => {
      // Samples have a temperature, the answer has none.
      const isSample = model === 'qwen3' && /"temperature":0\.\d/.test(JSON.stringify(body));
      const answer = (): string => (isSample && !isSure ? (scattered[asked++ % 4] ?? '') : capital);
      return respondAsModel({ answer }, readSystem(body), prompt);
    },
    { models: ['qwen3', 'llama3.2', 'mistral-small', 'gemma3'].map((id) => ({ id, tools: true, context: 32_768 })) },
  );
  await program.seedModels('qwen3');
  const verify = async (maxError: string): Promise<VerificationReport> => {
    const args = [
      'verify-full',
      'What is the capital of Australia?',
      '--drafts',
      '1',
      '--max-error',
      maxError,
      '--json',
    ];
    return JSON.parse((await program.call(args)).out) as VerificationReport;
  };
  const before = await verify('5%');
  assert.deepEqual([before.outcome, before.verifiedText], ['abstained', '']);
  assert.match(before.why, /Not calibrated for .*qwen3, questions, samples-1\./);
  const calibrated = await program.call(['verify', 'calibrate', writeLabels(program, 2_000), '--model', 'qwen3']);
  assert.equal(calibrated.code, 0, calibrated.err);
  const accepted = await verify('5%');
  assert.equal(accepted.outcome, 'verified', accepted.why);
  assert.match(accepted.why, /at most 5 % errors with a probability of 95 %, from 2000 labels/);
  const stricter = await verify('1%');
  assert.deepEqual([stricter.outcome, /is for 5 % errors/.test(stricter.why)], ['abstained', true]);
  isSure = false;
  const unsure = await verify('5%');
  assert.equal(unsure.outcome, 'abstained', unsure.why);
  assert.match(unsure.why, /below the threshold|samples of the model disagree/);
});
