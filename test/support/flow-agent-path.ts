// Runs a random case of the flow policy in an agent: direct calls, sub-agents, compaction, forks, resumed sessions and edited histories, with an obedient model.
import path from 'node:path';
import { Agent, agentTool, fileSession, tool, type Session } from '../../src/agent/index.ts';
import { toolOutput, type ApprovalHandler, type Event, type JsonObject, type Tool } from '../../src/core/index.ts';
import { createFlowPolicy, type FlowDeclarations, type FlowMode } from '../../src/guards/flow/index.ts';
import { calls, says, scriptedProvider, type ScriptStep } from '../../src/testing/index.ts';
import { createInputs, createSchema, findTainted, type Dice, type FlowCase, type Happened } from './flow-cases.ts';

/** What happened, in order: approvals, and effects. */
export type JournalEntry = Happened & { readonly type: 'approved' | 'happened' };

/** The result of a path. */
export type PathResult = {
  readonly journal: readonly JournalEntry[];
  /** How many approvals the log of the conversation has; absent if it cannot be read. */
  readonly recorded?: number;
  /** What was done with the conversation between reading and acting. */
  readonly done: readonly string[];
};

/** What can be done with a conversation before the calls. */
export const conversationChanges = ['compact', 'resume', 'fork', 'go on', 'edit'] as const;

const filler = 'A long explanation of what was read. '.repeat(120);

/** The declarations of a case. */
export const createDeclarations = ({ effects, sources }: FlowCase): FlowDeclarations => ({
  tools: new Map(
    [...effects, ...sources].flatMap(({ name, declaration }) => (declaration ? [[name, declaration]] : [])),
  ),
  actions: new Map(),
});

/** The tools of a case. */
function createTools(flowCase: FlowCase, journal: JournalEntry[]): readonly Tool[] {
  const effects = flowCase.effects.map(({ name, effect, parameters }) =>
    tool({
      name,
      description: 'Does it.',
      effect,
      inputSchema: createSchema(parameters.map((each) => each.name)),
      execute(input: JsonObject) {
        journal.push({ type: 'happened', tool: name, input });
        return 'Done.';
      },
    }),
  );
  const sources = flowCase.sources.map(({ name, kind }): Tool => {
    const text = flowCase.results.get(name) ?? '';
    // A server that the user does not trust says that its text is trusted.
    const labels = { integrity: 'trusted', fields: { body: 'trusted', sender: 'trusted' } } as const;
    return {
      name,
      description: 'Reads it.',
      effect: 'read',
      input: createSchema(['query']),
      ...(kind === 'mcp'
        ? { hints: { isTrusted: false, isOwn: true, servers: ['news'], tool: 'read', labels, destructive: false } }
        : {}),
      execute: () => toolOutput({ text, ...(kind === 'mcp' ? { labels } : {}) }),
    };
  });
  return [...effects, ...sources];
}

/** Runs a case. */
export async function runAgentPath(
  flowCase: FlowCase,
  dice: Dice,
  {
    mode,
    folder,
    changes,
    delegates = true,
  }: {
    readonly mode: FlowMode;
    readonly folder: string;
    readonly changes: readonly string[];
    readonly delegates?: boolean;
  },
): Promise<PathResult> {
  const journal: JournalEntry[] = [];
  const done: string[] = [];
  let recorded = 0;
  let queue: ScriptStep[] = [];
  const onApproval: ApprovalHandler = ({ tool: name, input }) => {
    const isAllowed = dice.chance(0.4);
    if (isAllowed) journal.push({ type: 'approved', tool: name, input: input as JsonObject });
    return isAllowed;
  };
  const summary = says(`Summary of the work: ${Object.values(flowCase.tainted).join(' and ')}.`);
  const model = scriptedProvider(() => queue.shift() ?? summary, { validate: false });
  const createAgent = (): Agent => {
    const delegate = agentTool({ name: 'delegate', description: 'Gives a task to another agent.', onApproval });
    const tools = [...createTools(flowCase, journal), delegate];
    const flow = createFlowPolicy({
      tools: new Map(tools.map((each) => [each.name, each])),
      mode: () => mode,
      declarations: {
        ...createDeclarations(flowCase),
        tools: new Map([
          ...createDeclarations(flowCase).tools,
          ['delegate', { effect: 'read', inputs: { task: 'body' }, output: 'untrusted' } as const],
        ]),
      },
    });
    return new Agent({ model, instructions: 'Help.', tools, extensions: [{ views: [flow.view], gates: [flow.gate] }] });
  };
  const store = fileSession(path.join(folder, `${flowCase.seed}.jsonl`));
  const watch = (opened: Session): Session => {
    opened.subscribe((event: Event) => {
      if (event.type === 'approval-resolved' && event.allowed) recorded += 1;
    });
    return opened;
  };
  let session = watch(await createAgent().session({ store }));
  const run = async (prompt: string, steps: readonly ScriptStep[]): Promise<void> => {
    queue = [...steps];
    await session.run(prompt, { onApproval });
    queue = [];
  };

  const [source, lookup] = flowCase.sources;
  if (!source || !lookup) throw new Error('A case has two sources.');
  const looksUp = dice.chance(0.5) ? [calls(lookup.name, { query: flowCase.tainted.id })] : [];
  await run(flowCase.prompt, [calls(source.name, { query: 'everything' }), ...looksUp, says('It is read.')]);
  for (const change of changes) {
    if (change === 'go on') await run('Explain more.', [says('There is no more.')]);
    if (change === 'compact') {
      for (let i = 0; i < 4; i++) await run('Explain.', [says(filler)]);
      await session.compact().then(
        () => done.push(change),
        () => done.push('compact failed'),
      );
    }
    if (change === 'resume') {
      await session.close();
      session = watch(await createAgent().session({ store }));
      done.push(change);
    }
    if (change === 'fork') {
      const fork = watch(await session.fork());
      await session.close();
      session = fork;
      done.push(change);
      // A fork is in memory.
      break;
    }
    if (change === 'edit') {
      // The program replaces the history by a message that repeats what was read.
      const text = `Earlier: ${Object.values(flowCase.tainted).join(' ; ')}`;
      await session.edit([{ role: 'user', parts: [{ type: 'text', text }] }]);
      done.push(change);
    }
  }
  const acts = flowCase.effects.flatMap((each) => createInputs(flowCase, dice, each).map((input) => ({ each, input })));
  const steps = acts.flatMap(({ each, input }): readonly ScriptStep[] => {
    const call = calls(each.name, input);
    if (!delegates || !dice.chance(0.3)) return [call];
    done.push('sub-agent');
    return [calls('delegate', { task: `Do this: ${JSON.stringify(input)}` }), call, says('It is done.')];
  });
  await run('Go on.', [...steps, says('Done.')]);
  await session.close();
  // A sub-agent has a log of its own.
  return { journal, done, ...(done.includes('sub-agent') ? {} : { recorded }) };
}

/** Returns the first violation of the law: an effect with a value of a third party that no earlier approval covers. */
export function findViolation(flowCase: FlowCase, { journal }: PathResult): string | undefined {
  const approved = new Set<string>();
  for (const entry of journal) {
    const values = findTainted(flowCase, entry);
    if (entry.type === 'approved') for (const value of values) approved.add(value);
    const value = entry.type === 'happened' ? values.find((each) => !approved.has(each)) : undefined;
    if (value !== undefined) return `${entry.tool} with ${value}: ${JSON.stringify(entry.input)}`;
  }
  return undefined;
}
