// A runtime of embedded models without a model, installed where the real one would be. It has one token per byte and writes what the prompt says after the last `SAY:`.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runtimeDirectory } from '../../src/providers/embedded/npm.ts';

const code = String.raw`
  const bytes = (text) => [...Buffer.from(text)];
  const textOf = (tokens) => Buffer.from(tokens.map((token) => token % 256)).toString();
  export class LlamaGrammarEvaluationState { constructor({ grammar }) { this.grammar = grammar.grammar; } }
  const match = (prompt, pattern) => prompt.match(pattern)?.[1] ?? '';
  function answer(prompt, grammar) {
    if (grammar?.includes('arguments')) return ' "' + match(prompt, /NAME=(\w+)/) + '", "arguments":';
    if (grammar) return ' ' + match(prompt, /INPUT=(\{.*?\})/);
    const result = prompt.lastIndexOf('<tool_response>');
    if (result > prompt.lastIndexOf('SAY:')) return 'The result was: ' + prompt.slice(result + 16).split('\n</tool_response>')[0];
    return prompt.split('SAY:').at(-1).split(/<.im_end|<.s>| NAME=/)[0];
  }
  export const getLlama = async () => ({
    loadModel: async () => ({
      tokens: { bos: null },
      tokenize: bytes,
      detokenize: textOf,
      createContext: async () => ({ getSequence: sequence, dispose: async () => {} }),
      dispose: async () => {},
    }),
    createGrammar: async ({ grammar }) => ({ grammar }),
    dispose: async () => {},
  });
  function sequence() {
    let state = [];
    return {
      get nextTokenIndex() { return state.length; },
      adaptStateToTokens: async (tokens) => {
        let same = 0;
        while (same < tokens.length && state[same] === tokens[same]) same++;
        state = state.slice(0, same);
      },
      evaluateWithoutGeneratingNewTokens: async (tokens) => void state.push(...tokens),
      controlledEvaluate: async (items) => items.map((item) =>
        Array.isArray(item) ? { next: { logits: new Map([[item[1].generateNext.logits.filter.tokens[0], 0]]), totalLogitWeight: 1 } } : undefined),
      async *evaluate([last], { grammarEvaluationState }) {
        state.push(last);
        for (const byte of bytes(answer(textOf(state), grammarEvaluationState?.grammar))) { yield byte; state.push(byte); }
      },
    };
  }`;

/** Installs the runtime in a data directory. */
export function installFakeRuntime(directory: string): void {
  const home = path.join(runtimeDirectory(directory), 'node_modules', 'node-llama-cpp', 'dist');
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, 'index.js'), code);
  writeFileSync(path.join(home, '..', 'package.json'), '{"type":"module","version":"3.22.1"}');
}
