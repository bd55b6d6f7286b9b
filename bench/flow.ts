// What the flow policy costs: adding text of third parties to a session, and deciding about a call with up to 10 MB of it. npm run bench -- --only flow
import {
  builtinDeclarations,
  decideCall,
  declareTool,
  FlowState,
  mergeDeclarations,
} from '../src/guards/flow/index.ts';
import { prepareState } from '../src/guards/flow/prepare-state.ts';

const mail = declareTool({
  name: 'send_email',
  effect: 'external',
  input: { properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } } },
});
const declarations = mergeDeclarations(builtinDeclarations, {
  tools: new Map([['send_email', mail]]),
  actions: new Map(),
});

/** Words as in prose and logs: frequent ones repeat, and one of ten is new. */
function createText(bytes: number, seed: number): string {
  let state = seed;
  const next = (): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0);
  const words: string[] = [];
  for (let size = 0; size < bytes;) {
    const word = next() % 10 === 0 ? `w${next().toString(36)}` : `word${next() % 3000}`;
    words.push(word);
    size += word.length + 1;
  }
  return words.join(' ');
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** The longest time in which nothing else could run while something was done. */
async function measureBlock(run: () => Promise<void>): Promise<number> {
  let [longest, last, isDone] = [0, performance.now(), false];
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await run();
  isDone = true;
  tick();
  return longest;
}

/** The time of one pass that hashes each character. */
function measureFloor(texts: readonly string[]): number {
  const began = performance.now();
  let hash = 0;
  for (const text of texts)
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x5b_d1_e9_95);
  return performance.now() - began + (hash === 1 ? 1 : 0);
}

/** Prints the time to add texts, to index them and to search them for private data, and the times of decisions. */
export async function benchFlow(rounds: number): Promise<void> {
  for (const megabytes of [0.1, 1, 10]) {
    const texts = Array.from({ length: 20 }, (_, i) => createText((megabytes * 1e6) / 20, i + 1));
    let state = FlowState.create({}, [{ type: 'user', text: 'Send the summary to bob@example.com' }]);
    const began = performance.now();
    for (const [i, text] of texts.entries())
      state = state.add({ type: 'untrusted', text, source: { tool: 'read_page', call: `c${i}` } });
    const block = await measureBlock(() => prepareState(state, declarations.tools));
    // Little text is indexed by the first search.
    state.findUntrusted(['word1']);
    const added = performance.now() - began;
    const floor = measureFloor(texts);
    const times: number[] = [];
    const inputs = [
      { to: 'bob@example.com', subject: 'Summary', body: texts[0]?.slice(0, 2000) ?? '' },
      { to: 'eve@evil.example', subject: 'word17 word18', body: 'short' },
      { to: texts[1]?.slice(100, 140) ?? '', subject: 'word1', body: 'short' },
      { to: 'word1 word2 word3', subject: 'word1 word2', body: 'word1 word2 word3' },
    ];
    for (let i = 0; i < 500 * rounds; i++) {
      const input = inputs[i % inputs.length] ?? {};
      const from = performance.now();
      decideCall(state, declarations, { id: String(i), tool: 'send_email', input });
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    console.log(
      `${String(megabytes).padStart(5)} MB of untrusted text: added in ${added.toFixed(0)} ms (${(megabytes / (added / 1000)).toFixed(1)} MB/s, x${(added / floor).toFixed(1)} of one pass over the characters), longest block ${block.toFixed(0)} ms, decision p50 ${(percentile(times, 0.5) * 1000).toFixed(0)} µs, p99 ${(percentile(times, 0.99) * 1000).toFixed(0)} µs`,
    );
  }
}
