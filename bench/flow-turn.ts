// What the flow policy adds to a turn of the coding agent that reads a file and writes another one. npm run bench -- --only flow
import { measureTurnPairs, openTurnSession } from './turn-pairs.ts';

const turnsPerSession = 60;
const noteBytes = 4000;

/** Prints what the policy adds to a turn. Each turn adds the text of another file. */
export async function benchFlowTurn(rounds: number): Promise<void> {
  const notes = Array.from({ length: turnsPerSession }, (_, i) => createNote(i));
  const result = await measureTurnPairs(
    async () => ({
      without: await openTurnSession({ flow: 'off' }, notes),
      withOption: await openTurnSession({ flow: 'ask' }, notes),
    }),
    { rounds, warmUpRounds: 1, turnsPerSession },
  );
  console.log(`a turn with two tool calls, policy off + what it adds, ${result}`);
}

function createNote(seed: number): string {
  const words: string[] = [];
  for (let size = 0; size < noteBytes; size += (words.at(-1)?.length ?? 0) + 1)
    words.push(words.length % 9 === 0 ? `item${seed}x${words.length}` : `word${(words.length * 37 + seed) % 3000}`);
  return words.join(' ');
}
