// The error for a model that is not known says what is wrong with the name, and what to do.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { KnownModel } from '../state/index.ts';
import { unknownModelError } from './unknown-model.ts';

const known: readonly KnownModel[] = [
  { id: 'qwen3:8b', provider: 'ollama', url: 'http://localhost:11434', tools: true, images: false, reasoning: false },
];
const textOf = (...args: Parameters<typeof unknownModelError>): string => {
  const { message, hint = '' } = unknownModelError(...args);
  return `${message} ${hint}`;
};

test('an unknown model: a provider alone, a name of another provider, a provider that does not exist, and a model to download', () => {
  assert.match(
    textOf('anthropic', [], undefined),
    /^"anthropic" is a provider, not a model\. Name one of its models, such as anthropic\/\S+; fairlead models anthropic lists/,
  );
  assert.equal(
    textOf('gpt-4o', known, { provider: 'ollama' }),
    'ollama has no model "gpt-4o". Did you mean openai/gpt-4o?',
  );
  assert.match(
    textOf('nope/x', known, undefined),
    /^There is no provider "nope", and the list of models has no model "nope\/x"\. Providers: /,
  );
  assert.match(
    textOf('ollama/doesnotexist', known, undefined),
    /^ollama \(\S+\) has no model "doesnotexist"\. fairlead models ollama lists [^]*ollama pull doesnotexist downloads one\.$/,
  );
  assert.doesNotMatch(textOf('foo/', [], undefined), /refresh-models/);
});
