// Creates a coding agent that works in a git worktree of its own: its files, commands and git tools are rooted there, and the checkout of the user stays as it is.
import type { CodingAgent } from './create-agent.ts';
import type { CreateCodingAgentOptions } from './create-agent-options.ts';
import type { Isolation, IsolationOptions } from './worktrees/index.ts';

/** An agent in a worktree of its own. */
export type IsolatedAgent = {
  /** The agent; `close` also ends the use of the worktree, which is kept if it has changes. */
  readonly agent: CodingAgent;
  readonly isolation: Isolation;
};

/** Options of createIsolatedAgent besides those of the agent. */
export type IsolatedAgentOptions = Pick<IsolationOptions, 'purpose' | 'name' | 'uncommitted' | 'signal'> & {
  /** Called with what the user should know: what is not in the worktree, and what was left in it. */
  readonly notify?: (text: string) => void;
};

/** Opens a worktree of the repository that contains `cwd`, and creates the agent in it. */
export async function createIsolatedAgent(
  { cwd, ...options }: CreateCodingAgentOptions,
  { notify = (text) => options.prompter?.notify(text), ...how }: IsolatedAgentOptions,
): Promise<IsolatedAgent> {
  const { formatKept, openIsolation } = await import('./worktrees/index.ts');
  const { createCodingAgent } = await import('./create-agent.ts');
  const isolation = await openIsolation({ settings: options.settings, cwd, ...how });
  const release = async (): Promise<void> => {
    const content = await isolation.close();
    if (content) notify(formatKept(content));
  };
  try {
    notify(isolation.notice);
    const agent = await createCodingAgent({ ...options, cwd: isolation.cwd });
    let closing: Promise<void> | undefined;
    const closeBoth = async (next: Parameters<typeof agent.close>[0]): Promise<void> => {
      try {
        await agent.close(next);
      } finally {
        await release();
      }
    };
    return {
      isolation,
      agent: { ...agent, close: (next) => (closing ??= closeBoth(next)) },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
