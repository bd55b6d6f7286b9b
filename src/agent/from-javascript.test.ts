// Wrong arguments from plain JavaScript are refused with one sentence at the call, not with a TypeError later.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairleadError } from '../core/index.ts';
import { startWorker } from '../fleet/index.ts';
import { openProvider } from '../providers/index.ts';
import { openFleetStore } from '../stores/index.ts';
import { scriptedProvider } from '../testing/index.ts';
import { Agent, agentTool, defineTool, Harness, toolFromSpec } from './index.ts';

const model = scriptedProvider([]);

/** The untyped argument, the error code, and a part of the message. */
const mistakes: readonly (readonly [string, () => unknown, code: string, says: RegExp])[] = [
  ['no options', () => new Agent(undefined as never), 'agent/no-model', /An agent needs a model: .* not nothing\.$/],
  ['no model', () => new Agent({} as never), 'agent/no-model', /such as "ollama\/qwen3:8b".* not nothing\.$/],
  ['null as the model', () => new Agent({ model: null as never }), 'agent/no-model', /not nothing\.$/],
  ['an empty name', () => new Agent({ model: ' ' }), 'agent/no-model', /not an empty name\.$/],
  ['a number', () => new Agent({ model: 7 as never }), 'agent/no-model', /not a number\.$/],
  ['no models at all', () => new Agent({ model: [] }), 'agent/no-model', /not an empty list\.$/],
  ['a list with a hole', () => new Agent({ model: ['a/b', undefined as never] }), 'agent/no-model', /not nothing\.$/],
  [
    'an incomplete reference',
    () => new Agent({ model: { provider: 'ollama' } as never }),
    'agent/no-model',
    /not an object without/,
  ],
  [
    'instructions that are not a string',
    () => new Agent({ model, instructions: 7 as never }),
    'agent/bad-option',
    /instructions .* text, not a number/,
  ],
  [
    'tools that are not a list',
    () => new Agent({ model, tools: {} as never }),
    'agent/bad-option',
    /tools .* list, not an object/,
  ],
  ['a harness without options', () => new Harness(undefined as never), 'harness/bad-option', /needs a provider/],
  [
    'a harness without a provider',
    () => new Harness({ system: '' } as never),
    'harness/bad-option',
    /needs a provider/,
  ],
  ['a tool without options', () => defineTool(undefined as never), 'tool/bad-definition', /no definition/],
  ['a tool from no spec', () => toolFromSpec(undefined as never), 'tool/bad-definition', /no definition/],
  ['a sub-agent without options', () => agentTool(undefined as never), 'tool/bad-definition', /no definition/],
  [
    'a missing tool',
    () => new Harness({ provider: model, system: '', tools: [undefined as never] }),
    'tool/bad-definition',
    /it is nothing/,
  ],
  ['no reference', () => openProvider(undefined as never), 'provider/no-model', /A model is a name/],
  ['an empty reference', () => openProvider({} as never), 'provider/no-model', /A model is a name/],
  ['no store', () => openFleetStore(undefined as never), 'store/no-location', /A store needs a location/],
  ['a worker without a store', () => startWorker({ drivers: {} } as never), 'fleet/bad-option', /needs a store/],
  ['a worker without handlers', () => startWorker({ store: {} } as never), 'fleet/bad-option', /needs handlers/],
];

for (const [title, mistake, code, says] of mistakes)
  test(`[D1] ${title}: refused in one sentence`, async () => {
    const refusal: unknown = await Promise.resolve()
      .then(mistake)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    assert.ok(refusal instanceof FairleadError, String(refusal));
    assert.deepEqual([refusal.code, refusal.blame], [code, 'user']);
    assert.match(refusal.message, says);
  });
