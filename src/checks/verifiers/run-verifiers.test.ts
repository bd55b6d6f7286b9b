// Tests of references, code, JSON and commands, and of the runner of verifiers.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event } from '../../core/index.ts';
import { contextOf, decideLater, givenEvidence, toClaim } from '../../../test/support/verify-claim.ts';
import { codeVerifier } from './code.ts';
import { commandVerifier } from './commands.ts';
import { createJsonVerifier } from './json-schema.ts';
import { referenceVerifier } from './references.ts';
import { defaultVerifiers, runVerifiers } from './run-verifiers.ts';
import { verifier } from './verifier.ts';

test('[A26] a path that does not exist is contradicted, and one that is to be made is not', async () => {
  const fileExists = (path: string): Promise<boolean> => Promise.resolve(path === 'src/a.ts');
  const check = (text: string): Promise<string> => decideLater(referenceVerifier, text, [], { fileExists });
  assert.equal(await check('The file `src/a.ts` exists.'), 'supported');
  assert.equal(await check('src/a.ts exists'), 'supported');
  assert.equal(await check('The parser is in src/b.ts.'), 'contradicted');
  assert.equal(await check('The parser is in `src/b.ts` and in src/a.ts.'), 'contradicted');
  assert.equal(await check('The parser is in src/a.ts.'), 'undecided', 'the file exists, the rest is not known');
  assert.equal(await check('The file src/a.ts exists and Paris is in Germany.'), 'undecided');
  assert.equal(await check('I created src/b.ts.'), 'undecided');
  assert.equal(await check('There is no file src/b.ts.'), 'undecided');
  const secret = (path: string): Promise<boolean | undefined> =>
    Promise.resolve(path.startsWith('../') ? undefined : false);
  assert.equal(
    await decideLater(referenceVerifier, 'The parser is in ../b.ts.', [], { fileExists: secret }),
    'undecided',
    'a path that is not looked up',
  );
  assert.equal(
    await decideLater(referenceVerifier, 'The parser is in ../b.ts and in src/c.ts.', [], { fileExists: secret }),
    'contradicted',
  );
  for (const name of [
    '`process.env` is read',
    'The model is vendor/model-4.8',
    'It is at example.com/a.html',
    '`a/${name}.ts` is read',
  ])
    assert.equal(await check(`${name}.`), 'undecided', name);
  assert.equal(await check('Use and/or in version 1.2/1.3.'), 'undecided');
  assert.equal(await decideLater(referenceVerifier, 'The parser is in src/b.ts.'), 'undecided', 'without a workspace');
});

test('[A26] an address that is neither in the evidence nor in results of tools is refused; nothing is fetched', async () => {
  const url = 'https://example.org/page';
  const claim = `See ${url}.`;
  const event = (type: string, more: object): readonly Event[] =>
    [{ type, seq: 1, ...more }] as unknown as readonly Event[];
  assert.equal(await decideLater(referenceVerifier, claim, ['Nothing.']), 'unverifiable');
  assert.equal(await decideLater(referenceVerifier, claim, [`Look at <${url}>`]), 'undecided');
  const found = event('tool-ended', { output: `Found ${url}, and more` });
  assert.equal(await decideLater(referenceVerifier, claim, [], { events: found }), 'undecided');
  const own = event('turn-ended', { message: { role: 'assistant', parts: [{ type: 'text', text: url }] } });
  assert.equal(await decideLater(referenceVerifier, claim, [], { events: own }), 'unverifiable', 'its own words');
  assert.equal(await decideLater(referenceVerifier, claim, [`${url}-2`]), 'unverifiable', 'another address');
});

const fence = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

test('[A26] code that does not parse is contradicted; code that parses supports only that', async () => {
  const check = (text: string): Promise<string> => decideLater(codeVerifier, text);
  assert.equal(await check(fence('json', '{"a": 1,}')), 'contradicted');
  assert.equal(await check(fence('json', '{"a": 1}')), 'undecided');
  assert.equal(await check(`The following JSON is valid:\n${fence('json', '{"a": 1}')}`), 'supported');
  assert.equal(await check(`The following YAML is valid:\n${fence('json', '{"a": 1}')}`), 'undecided');
  assert.equal(
    await check(`The following code parses:\n${fence('ts', 'const a: number = 1;\nreturn a;')}`),
    'supported',
  );
  assert.equal(await check(fence('js', 'const = 1;')), 'contradicted');
  assert.equal(await check(fence('typescript', 'type A = {')), 'contradicted');
  assert.equal(await check(fence('ts', 'call(...)')), 'undecided', 'an ellipsis');
  assert.equal(await check(`This is not valid:\n${fence('js', 'const = 1;')}`), 'undecided');
  assert.equal(await check(fence('yaml', 'a: [1, 2')), 'contradicted');
  assert.equal(await check(`This YAML is valid:\n${fence('yaml', 'a: [1, 2]')}`), 'supported');
  assert.equal(await check(fence('rust', 'fn main( {')), 'undecided');
  assert.equal(await check(`The following code parses and prints 7:\n${fence('js', 'console.log(8)')}`), 'undecided');
  assert.equal(
    await check(`The following code parses:\n${fence('js', 'process.exit(3)')}`),
    'supported',
    'it is not run',
  );
});

test('[A26] JSON that does not match a schema is contradicted', async () => {
  const verify = createJsonVerifier({
    validate: (value) => (typeof value === 'object' && value !== null && 'id' in value ? undefined : 'id is missing'),
  });
  assert.equal(await decideLater(verify, '{"name": "a"}'), 'contradicted');
  assert.equal(await decideLater(verify, fence('json', '{"id": ')), 'contradicted');
  assert.equal(await decideLater(verify, '{"id": 1}'), 'undecided', 'the value of id is not known to be right');
  assert.equal(await decideLater(verify, `This JSON matches the schema:\n${fence('json', '{"id": 1}')}`), 'supported');
  assert.equal(await decideLater(verify, 'No JSON here.'), 'undecided');
});

test('[A26] a command runs only through the function of the caller, and its exit code decides', async () => {
  const ran: string[] = [];
  const runCommand = (command: string): Promise<{ exitCode: number; output: string }> => {
    ran.push(command);
    return Promise.resolve({ exitCode: command === 'true' ? 0 : 1, output: 'out' });
  };
  const check = (text: string): Promise<string> => decideLater(commandVerifier, text, [], { runCommand });
  assert.equal(await check('`true` exits with code 0.'), 'supported');
  assert.equal(await check('The command `npm test` succeeds.'), 'contradicted');
  assert.equal(await check('`npm test` fails'), 'supported');
  assert.equal(await check('`true` exits with code 0 and Paris is in Germany'), 'undecided');
  assert.equal(await check('You could run `rm -rf x`, which succeeds.'), 'undecided');
  assert.deepEqual(ran, ['true', 'npm test', 'npm test']);
  assert.equal(await decideLater(commandVerifier, '`true` exits with code 0.'), 'undecided');
});

test('[A26] a verifier of the caller decides; one that throws, rejects or names evidence that does not exist decides nothing', async () => {
  const claim = toClaim('The build number is 7.');
  const context = contextOf(claim.text, ['Build 7 of the server.']);
  const verdict = (text: string, span = { start: 0, end: text.length }) =>
    ({
      type: 'supported',
      decidedBy: 'exact',
      verifier: 'own',
      evidence: [{ ...givenEvidence(text), span }],
      why: 'It is there.',
    }) as const;
  const own = (verify: () => unknown) =>
    verifier({ name: 'own', handles: () => true, verify: verify as () => undefined });
  const run = async (verify: () => unknown): Promise<string | undefined> =>
    (await runVerifiers([own(verify)], claim, context)).verdict?.type;
  assert.equal(await run(() => verdict('Build 7 of the server.')), 'supported');
  assert.equal(await run(() => Promise.resolve(verdict('Build 7 of the server.', { start: 0, end: 7 }))), 'supported');
  assert.equal(await run(() => verdict('Build 8 of the server.')), undefined, 'a text that is no evidence');
  assert.equal(await run(() => verdict('Build 7 of the server.', { start: 3, end: 99 })), undefined, 'outside');
  assert.equal(await run(() => verdict('Build 7 of the server.', { start: 3, end: 3 })), undefined, 'empty');
  assert.equal(await run(() => ({ ...verdict('Build 7 of the server.'), evidence: [] })), undefined, 'none');
  assert.equal(
    await run(() => {
      throw new Error('broken');
    }),
    undefined,
  );
  assert.equal(await run(() => Promise.reject(new Error('broken'))), undefined);
  const controller = new AbortController();
  const slow = own(() => new Promise(() => {}));
  const running = runVerifiers([slow], claim, { ...context, signal: controller.signal });
  controller.abort();
  await assert.rejects(running);
});

test('[A26] the default verifiers decide in order: a wrong sum is contradicted also if a source contains it', async () => {
  const text = 'The total is 2 + 2 = 5.';
  const { verdict: decided } = await runVerifiers(defaultVerifiers, toClaim(text), contextOf(text, [text]));
  assert.equal(decided?.type, 'contradicted');
  const weekday = '17 November 2026 is a Monday.';
  const { verdict: other } = await runVerifiers(defaultVerifiers, toClaim(weekday), contextOf(weekday, [weekday]));
  assert.equal(other?.type, 'contradicted');
});
