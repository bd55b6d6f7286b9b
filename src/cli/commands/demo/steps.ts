// The scenes of the tour, each on the real conversation: tools and an approval, a crash, its resume, an edit of history.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../../core/index.ts';
import { verifyFile } from '../../../stores/index.ts';
import { branchesOf, selectShownBranches, formatBranchTree } from '../../../sessions/reports/index.ts';
import { listSessionFiles } from '../../../sessions/index.ts';
import { crashAndKill } from './crash.ts';
import type { Tour } from './tour.ts';

/** Part of the tour, on a screen of its own. */
export type TourStep = { readonly title: string; readonly text: string; run(guide: Tour): Promise<void> };

const readDemoFile = ({ workspace }: Tour, name: string): string =>
  readFileSync(path.join(workspace.cwd, name), 'utf8');

const toolsStep: TourStep = {
  title: 'Tools, and who decides',
  text: 'The model may read what is in the working folder. Whatever changes something is put to you first, as the exact call it is.',
  async run(guide) {
    await guide.runScene(
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
          { text: 'That was one read, which is **free**, and one edit, which had to wait for your word.' },
        ],
      },
      async ({ session }) => {
        const allowed = readDemoFile(guide, 'greet.mjs').includes("'whole crew'");
        const results = session.messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
        guide.assertTrue(results.length === 2, 'both calls and what came of them are in the session');
        guide.assertTrue(
          allowed === !results[1]?.failed,
          allowed ? 'greet.mjs on the disk greets the whole crew' : 'you said no, and greet.mjs is as it was',
        );
      },
    );
  },
};

const crashStep: TourStep = {
  title: 'A crash',
  text: 'Another process of this very program sends a parcel, which must not happen twice. It is killed with SIGKILL in the middle of that.',
  run: crashAndKill,
};

const resumeStep: TourStep = {
  title: 'The resume',
  text: 'The session is opened again. The log says that the command had begun and not how it ended, so it is not run again: you are asked, and where nobody knows the model is told so, and looks.',
  async run(guide) {
    await guide.runScene(
      {
        session: { type: 'resume', session: 'parcel' },
        name: 'resume',
        replies: [
          {
            text: 'I do not know whether it was sent, so I look before I do anything.',
            calls: [{ tool: 'read_file', input: { path: 'ledger.txt' } }],
          },
          { text: 'The ledger has the parcel. It was sent before the crash, and I do **not** send it again.' },
        ],
      },
      async (talk) => {
        const outcomes = (await talk.events()).flatMap((event) => (event.type === 'tool-ended' ? event.outcome : []));
        guide.assertTrue(outcomes[0] === 'unknown', 'the call that was cut off has the outcome "unknown", not a guess');
        const sent = readDemoFile(guide, 'ledger.txt').split('\n').filter(Boolean).length;
        guide.assertTrue(sent === 1, `ledger.txt has ${sent} line: the effect happened once`);
        guide.assertTrue(
          talk.session.state.ended?.reason === 'answered',
          'the run that was killed has ended with an answer',
        );
      },
    );
  },
};

const editStep: TourStep = {
  title: 'An edit of history',
  text: 'Back to the first session. What you said there is changed, as /session edit does it: a new branch begins, and the old one stays.',
  async run(guide) {
    const said = 'How would greet.mjs say it in French? Only tell me.';
    await guide.runScene(
      {
        session: { type: 'resume', session: 'tour' },
        name: 'edit',
        async prepare({ session }) {
          const before = session.messages.length;
          await session.edit([{ role: 'user', parts: [{ type: 'text', text: said }] }], 'by the tour');
          guide.notify(`The ${before} messages of the session were replaced by one that you never wrote.`);
        },
        replies: [
          { text: 'It would begin with `Bonjour`. On this branch I know nothing of what was done on the other one.' },
        ],
      },
      async (talk) => {
        const branches = branchesOf(await talk.events());
        guide.notify(`/tree now shows:\n${formatBranchTree(branches)}`);
        guide.assertTrue(
          selectShownBranches(branches).length === 2,
          'the session has two branches, and the first one can be returned to',
        );
        guide.assertTrue(
          firstTextOf(talk.session.messages[0]) === said,
          'the one that goes on begins with the edited message',
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
  title: 'What to try next',
  text: `  fairlead                              open the prompt: /help lists the commands, @ completes files, Esc interrupts
  fairlead "what is in this folder?"    answer once and exit
  fairlead --resume                     go on with a session; --fork copies it first
  fairlead sessions list                every session is one file, which you can show, export and verify
  fairlead models                       what this machine has: keys, servers, and the small embedded model
  fairlead doctor                       prove that each part works with your model`,
  async run(guide) {
    for (const place of listSessionFiles(guide.workspace.settings.dirs)) {
      const { ok, events } = await verifyFile(place.file);
      guide.assertTrue(
        ok && events > 0,
        `the session "${place.name}" is ${events} events, chained by hashes, and verifies`,
      );
    }
  },
};

/** The tour, in its order. */
export const tourSteps: readonly TourStep[] = [toolsStep, crashStep, resumeStep, editStep, closingStep];
