// From a command line to an open conversation in interactive mode: what has to be asked first is asked here.
import { FairleadError } from '../../core/index.ts';
import type { Person } from '../equipment/index.ts';
import type { TerminalUI } from '../face/face.ts';
import type { CliArgs } from '../front/asked.ts';
import { exitCodeForError, exitCodes } from '../front/exit-codes.ts';
import { formatError } from '../front/sentence.ts';
import { readKnownModels, readLastModel, refreshModels, type KnownModel, type Whence } from '../known-models/index.ts';
import type { Settings } from '../settings/index.ts';
import type { ConversationOptions } from './course.ts';
import { firstRun } from './first-run.ts';
import { chosenFrom, isRouter, modelNamed, placeOf, placeWords, routed, usualPlace, type Chosen } from './model.ts';
import { testConnection } from './test-connection.ts';
import { settleSession, type Settled } from './which-session.ts';

/** What a conversation needs, and who must let go of its session first. */
export type Prepared = ConversationOptions & Pick<Settled, 'held'>;

/** Everything a conversation needs, or the exit code of a program that ends here. */
export async function prepare(asked: CliArgs, settings: Settings, face: TerminalUI): Promise<Prepared | number> {
  const ready = await modelFor(asked, settings, face);
  if (typeof ready === 'number') return ready;
  const session = await settleSession(asked.session, settings.dirs, face);
  if (!session) return exitCodes.failed;
  const person = personOn(face);
  return { settings, asked, host: person, person, ...ready, ...session };
}

type Ready = { readonly chosen: Chosen };

async function modelFor(asked: CliArgs, settings: Settings, face: TerminalUI): Promise<Ready | number> {
  const say = (text: string, level: 'info' | 'error' = 'info'): void =>
    face.putBlock({ type: 'notice', id: crypto.randomUUID(), level, text });
  const fail = (error: unknown): number => {
    if (!(error instanceof FairleadError)) throw error;
    say(formatError(error), 'error');
    return exitCodeForError(error.code);
  };
  let known = readKnownModels(settings) ?? [];
  const asksServer = asked.action?.type === 'test-connection' || asked.action?.type === 'refresh-models';
  const first = asked.model ?? settings.model ?? readLastModel(settings);
  if (isRouter(first) && !asksServer) return { chosen: routed(first) };
  const place = placeOf(settings, known) ?? (asksServer ? usualPlace : undefined);
  if (!place) {
    const { chosen, words } = await firstRun(settings, asked.model ?? settings.model);
    say(words);
    return { chosen };
  }
  try {
    if (asked.action?.type === 'test-connection') say(await testConnection(settings, place));
    if (asked.action?.type === 'refresh-models' || (known.length === 0 && !namesAnother(asked, place))) {
      if (asked.action?.type !== 'refresh-models' && !(await wantsList(place, face))) return exitCodes.failed;
      known = await refreshModels(settings, { from: place, say });
      say(`${known.length} model${known.length === 1 ? '' : 's'} at ${placeWords(place)}.`);
    }
  } catch (error) {
    return fail(error);
  }
  return chooseFrom(asked.model, known, place, settings, face);
}

/** A model of another provider needs no list of this one. */
const namesAnother = (asked: CliArgs, place: Whence): boolean =>
  asked.model !== undefined && modelNamed(asked.model, [], place) !== undefined;

async function wantsList(place: Whence, face: TerminalUI): Promise<boolean> {
  const key = await face.askKey({
    title: `It is not known which models ${placeWords(place)} has. Ask it now?`,
    keys: [
      { key: 'y', label: 'yes' },
      { key: 'n', label: 'no, leave' },
    ],
    defaultKey: 'n',
  });
  return key === 'y';
}

/** The model named on the command line, the last one used, or the one the person picks; there is no prompt before there is a model. */
async function chooseFrom(
  given: string | undefined,
  known: readonly KnownModel[],
  place: Whence,
  settings: Settings,
  face: TerminalUI,
): Promise<Ready | number> {
  const wanted = given ?? settings.model ?? readLastModel(settings);
  if (isRouter(wanted)) return { chosen: routed(wanted) };
  const found = wanted === undefined ? undefined : modelNamed(wanted, known, place);
  if (found) return { chosen: found };
  if (known.length === 0) {
    face.putBlock({ type: 'notice', id: 'none', level: 'error', text: `${placeWords(place)} has no models.` });
    return exitCodes.failed;
  }
  const title =
    wanted === undefined ? 'Which model?' : `${placeWords(place)} has no model "${wanted}". Which one instead?`;
  const picked = await face.pick(
    title,
    known.map(({ id, tools }) => ({
      value: id,
      label: id,
      ...(tools === false ? { description: 'cannot call tools' } : {}),
    })),
  );
  const model = known.find(({ id }) => id === picked);
  return model ? { chosen: chosenFrom(model) } : exitCodes.failed;
}

/** Asks and tells on the face. */
export const personOn = (face: TerminalUI): Person => ({
  agrees: async (title, detail, signal) =>
    (await face.askKey(
      {
        title,
        ...(detail === undefined ? {} : { detail }),
        keys: [
          { key: 'y', label: 'yes' },
          { key: 'n', label: 'no' },
        ],
        defaultKey: 'n',
      },
      signal,
    )) === 'y',
  ...(face.askText && { words: face.askText }),
  progress: (text) => face.putBlock({ type: 'notice', id: 'model-progress', level: 'info', text }),
  say: (text) => face.putBlock({ type: 'notice', id: crypto.randomUUID(), level: 'info', text }),
});
