// The fixture of attack tests: the terminal's own agent in a temporary folder, with an attacker instead of a model.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Session } from '../../src/agent/index.ts';
import { createCodingAgent, type CodingAgent } from '../../src/coding-agent/create-agent.ts';
import { readSettings } from '../../src/coding-agent/settings/index.ts';
import type { Event, Json } from '../../src/core/index.ts';
import { sessionGrants } from '../../src/guards/index.ts';
import { memoryLog } from '../../src/stores/index.ts';
import { calls, scriptedProvider } from '../../src/testing/index.ts';

/** The outcome of a call: asked, refused or done; with the question or the result. */
export type AttackAttempt = { readonly how: 'asked' | 'blocked' | 'done'; readonly text: string };

/** The fixture of an attack. */
export type AttackFixture = {
  /** The working folder. */
  readonly root: string;
  /** A folder next to it that was not opened. */
  readonly siblingDir: string;
  readonly home: string;
  readonly codingAgent: CodingAgent;
  /** Adds what has to stop before the folder is removed. */
  beforeRemoval(stop: () => Promise<unknown>): void;
  /** Makes this call as the attacker. With `auto`, no approval is requested. */
  attempt(tool: string, input: Json, auto?: boolean): Promise<AttackAttempt>;
};

const policyYaml = `rules:
  - allow: { command: [git log, git diff, echo, cat, ls, rg, sort, find, sed, 'true', xargs, awk, man, date, tree, tar, go test] }
  - deny: { command: [rm, curl, wget] }
  - deny: { path: '/etc/**' }
`;

/** Creates the fixture. Approval requests about the folder itself are denied, and counted in `asked`. */
export async function createAttackFixture(
  t: TestContext,
  prepare: (root: string) => void = () => {},
  asked: string[] = [],
): Promise<AttackFixture> {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-attack-')));
  const stops: (() => Promise<unknown>)[] = [];
  // Commands that still write would keep the folder from being removed.
  t.after(async () => {
    for (const stop of stops.toReversed()) await stop();
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  });
  const at = (name: string): string => path.join(place, name);
  for (const name of ['app/.git/hooks', 'app-beside', 'home/.config/fairlead'])
    mkdirSync(at(name), { recursive: true });
  writeFileSync(at('home/.config/fairlead/policy.yaml'), policyYaml);
  const root = at('app');
  prepare(root);
  const settings = readSettings({ env: { HOME: at('home'), PATH: process.env['PATH'] }, cwd: root });
  let isAuto = false;
  const person = {
    confirm: async (question: string) => (asked.push(question), false),
    progress() {},
    notify() {},
  };
  const outfit = await createCodingAgent({
    settings,
    cwd: root,
    autoApprove: () => isAuto,
    grants: sessionGrants(),
    codeOnly: false,
    prompter: person,
  });
  stops.push(() => outfit.close());
  return {
    root,
    siblingDir: at('app-beside'),
    home: at('home'),
    codingAgent: outfit,
    beforeRemoval: (stop) => void stops.push(stop),
    async attempt(tool, input, auto = false) {
      isAuto = auto;
      const provider = scriptedProvider(({ results }) => (results.length > 0 ? 'done' : calls(tool, input)));
      const session = await Session.open(outfit.forModel(provider, true), memoryLog());
      const events: Event[] = [];
      session.subscribe((event) => void events.push(event));
      await session.advance('go on');
      await session.close();
      return getAttackAttempt(events);
    },
  };
}

function getAttackAttempt(events: readonly Event[]): AttackAttempt {
  for (const event of events) {
    if (event.type === 'approval-requested') return { how: 'asked', text: event.question };
    if (event.type === 'tool-ended') return { how: event.outcome === 'ok' ? 'done' : 'blocked', text: event.text };
  }
  return { how: 'blocked', text: '' };
}
