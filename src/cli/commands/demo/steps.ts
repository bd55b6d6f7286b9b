// The steps of the tour, each on a real conversation: tools and an approval, a crash, the resume, an edit of the history.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../../core/index.ts';
import { verifyFile } from '../../../stores/index.ts';
import { branchesOf, selectShownBranches, formatBranchTree } from '../../../sessions/reports/index.ts';
import { listSessionFiles } from '../../../sessions/index.ts';
import { crashAndKill } from './crash.ts';
import type { Tour } from './tour.ts';

/** A step of the tour, on its own screen. */
export type TourStep = { readonly title: string; readonly text: string; run(tour: Tour): Promise<void> };

const readDemoFile = ({ workspace }: Tour, name: string): string =>
  readFileSync(path.join(workspace.cwd, name), 'utf8');

const toolsStep: TourStep = {
  title: 'Tools and approvals',
  text: 'The model may read files in the working directory. Every change needs your approval, for the exact call.',
  async run(tour) {
    await tour.runScene(
      {
        session: { type: 'new', name: 'tour' },
        name: 'tools',
        prompt: 'Let greet.mjs greet the whole crew.',
        replies: [
          { text: 'I look at the file first.', calls: [{ tool: 'read_file', input: { path: 'greet.mjs' } }] },
          {
            text: 'One line has to change.',
            calls: [
              { tool: 'edit_file', input: { path: 'greet.mjs', old_string: "'sailor'", new_string: "'whole crew'" } },
            ],
          },
          { text: 'That was one read, which needs **no approval**, and one edit, which waited for yours.' },
        ],
      },
      async ({ session }) => {
        const allowed = readDemoFile(tour, 'greet.mjs').includes("'whole crew'");
        const results = session.messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
        tour.assertTrue(results.length === 2, 'both calls and their results are in the session');
        tour.assertTrue(
          allowed === !results[1]?.failed,
          allowed ? 'greet.mjs on disk greets the whole crew' : 'you denied the edit, and greet.mjs is unchanged',
        );
      },
    );
  },
};

const crashStep: TourStep = {
  title: 'A crash',
  text: 'Another process of this program sends a parcel, which must not happen twice. It is killed with SIGKILL during the call.',
  run: crashAndKill,
};

const resumeStep: TourStep = {
  title: 'The resume',
  text: 'The session is opened again. The log shows that the command started, but not how it ended, so it is not run again: you are asked, and if you do not know, the model learns that the outcome is unknown and checks.',
  async run(tour) {
    await tour.runScene(
      {
        session: { type: 'resume', session: 'parcel' },
        name: 'resume',
        replies: [
          {
            text: 'I do not know whether it was sent, so I check before I do anything.',
            calls: [{ tool: 'read_file', input: { path: 'ledger.txt' } }],
          },
          { text: 'The ledger has the parcel. It was sent before the crash, and I do **not** send it again.' },
        ],
      },
      async (conversation) => {
        const outcomes = (await conversation.events()).flatMap((event) =>
          event.type === 'tool-ended' ? event.outcome : [],
        );
        tour.assertTrue(outcomes[0] === 'unknown', 'the interrupted call has the outcome "unknown", not a guess');
        const sent = readDemoFile(tour, 'ledger.txt').split('\n').filter(Boolean).length;
        tour.assertTrue(sent === 1, `ledger.txt has ${sent} line: the effect happened once`);
        tour.assertTrue(
          conversation.session.state.ended?.reason === 'answered',
          'the killed run has ended with an answer',
        );
      },
    );
  },
};

const editStep: TourStep = {
  title: 'An edit of the history',
  text: 'Back to the first session. Your message there is changed, as /session edit does it: a new branch starts, and the old one stays.',
  async run(tour) {
    const prompt = 'How would greet.mjs say it in French? Only tell me.';
    await tour.runScene(
      {
        session: { type: 'resume', session: 'tour' },
        name: 'edit',
        async prepare({ session }) {
          const before = session.messages.length;
          await session.edit([{ role: 'user', parts: [{ type: 'text', text: prompt }] }], 'by the tour');
          tour.notify(`The ${before} messages of the session were replaced by one new message.`);
        },
        replies: [{ text: 'It would begin with `Bonjour`. On this branch I know nothing about the other one.' }],
      },
      async (conversation) => {
        const branches = branchesOf(await conversation.events());
        tour.notify(`/tree now shows:\n${formatBranchTree(branches)}`);
        tour.assertTrue(
          selectShownBranches(branches).length === 2,
          'the session has two branches, and you can switch back to the first one',
        );
        tour.assertTrue(
          firstTextOf(conversation.session.messages[0]) === prompt,
          'the new branch starts with the edited message',
        );
      },
    );
  },
};

const firstTextOf = (message: Message | undefined): string | undefined => {
  const part = message?.parts[0];
  return part?.type === 'text' ? part.text : undefined;
};

const closingStep: TourStep = {
  title: 'Next steps',
  text: `  fairlead                              open the prompt: /help lists the commands, @ completes files, Esc interrupts
  fairlead "what is in this folder?"    answer once and exit
  fairlead --resume                     continue a session; --fork copies it first
  fairlead sessions list                every session is one file, which you can show, export and verify
  fairlead models                       list providers: keys, local servers, and the small embedded model
  fairlead doctor                       check the installation with your model`,
  async run(tour) {
    for (const { name, file } of listSessionFiles(tour.workspace.settings.dirs)) {
      const { ok, events } = await verifyFile(file);
      tour.assertTrue(ok && events > 0, `the session "${name}" has ${events} events, chained by hashes, and verifies`);
    }
  },
};

/** The steps of the tour, in order. */
export const tourSteps: readonly TourStep[] = [toolsStep, crashStep, resumeStep, editStep, closingStep];
