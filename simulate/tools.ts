// The simulated tools: one for each way in which a call that was interrupted can be recovered.
import type { Tool } from '../src/core/index.ts';
import type { SimulatedProcess } from './process.ts';
import type { Protection } from './protections.ts';
import { readMark } from './provider.ts';
import { checkKillSwitch, type World } from './world.ts';

/** The tools by what they need after a crash. */
export type ToolName = 'pay' | 'book' | 'mail' | 'wire' | 'look';

/** The tools that change something outside. */
export const effectTools: ReadonlySet<string> = new Set(['pay', 'book', 'mail', 'wire']);

/** Creates the tools of a process. `pay`: only the user knows whether it took effect; `book`: the tool can find out; `mail`: is idempotent; `wire`: needs an approval; `look`: only reads. */
export function createTools(
  world: World,
  process: SimulatedProcess,
  now: () => number,
  isRemoved: (protection: Protection) => boolean,
): readonly Tool[] {
  const apply = (tool: string, call: string, key: string): string => {
    checkKillSwitch(world, `the effect ${tool}`, process.name, now());
    if (
      tool !== 'mail' ||
      isRemoved('idempotency-key') ||
      !world.effects.some((effect) => effect.tool === tool && effect.key === key)
    )
      world.effects.push({
        run: call.slice(0, call.lastIndexOf(':')),
        tool,
        call,
        key,
        at: now(),
        worker: process.name,
      });
    return `${tool} done`;
  };
  const createTool = (name: ToolName, more: Partial<Tool> = {}): Tool => ({
    name,
    description: `The tool ${name}.`,
    input: { type: 'object' },
    effect: 'external',
    execute: (input, { key }) =>
      process.call({
        name: `tool ${name} ${readMark(input)}`,
        target: 'tool',
        latency: [1, 40],
        act: () => (effectTools.has(name) ? apply(name, readMark(input), key) : `${name} done`),
      }),
    ...more,
  });
  return [
    createTool('pay', isRemoved('idempotent-flag') ? { idempotent: true } : {}),
    createTool('book', {
      checkOutcome: (input) =>
        process.call({
          name: `check ${readMark(input)}`,
          target: 'tool',
          act: () =>
            !isRemoved('check-outcome') && world.effects.some((effect) => effect.call === readMark(input))
              ? 'book done'
              : false,
        }),
    }),
    createTool('mail', { idempotent: true }),
    createTool('wire', isRemoved('approval') ? {} : { needsApproval: () => true }),
    createTool('look', { effect: 'read' }),
  ];
}
