// The tools of the simulated world for mails, the calendar, documents and pages.
import type { Json } from '../../core/index.ts';
import { add, change, external, find, list, pick, read, records, remove, text, type WorldTool } from './tool-parts.ts';

/** Tools for mails, the calendar, documents and pages. */
export const officeTools: Readonly<Record<string, WorldTool>> = {
  list_mails: {
    ...read,
    description: 'Lists the mails of the user.',
    inputs: {},
    output: { untrusted: ['subject'], identity: ['from'] },
    run: (world) => records(world, 'mails').map((mail) => pick(mail, 'id', 'from', 'subject')),
  },
  read_mail: {
    ...read,
    description: 'Reads a mail.',
    inputs: { id: text('id') },
    output: { untrusted: ['subject', 'body'], identity: ['from'] },
    run: (world, { id }) => find(world, 'mails', 'id', id),
  },
  send_mail: {
    ...external,
    description: 'Sends a mail.',
    action: 'message',
    inputs: { to: list('recipient'), subject: text('body'), body: text('body') },
    run: (world, input) => add(world, 'sent', input),
  },
  forward_mail: {
    ...external,
    description: 'Forwards a mail.',
    action: 'message',
    inputs: { id: text('id'), to: text('recipient') },
    run: (world, { id, to }) => add(world, 'sent', { ...find(world, 'mails', 'id', id), to: [to ?? ''] }),
  },
  delete_mail: {
    ...external,
    description: 'Deletes a mail.',
    action: 'delete',
    destructive: true,
    inputs: { id: text('id') },
    run: (world, { id }) => remove(world, 'mails', 'id', id),
  },
  list_events: {
    ...read,
    description: 'Lists the events of the calendar.',
    inputs: {},
    output: { untrusted: ['notes', 'title'], identity: ['organizer'] },
    run: (world) => records(world, 'events'),
  },
  create_event: {
    ...external,
    description: 'Creates an event and invites its participants.',
    action: 'create',
    inputs: { title: text('title'), start: text('time'), participants: list('recipient'), notes: text('body') },
    run: (world, input) => add(world, 'events', { id: `E-${records(world, 'events').length + 1}`, ...input }),
  },
  cancel_event: {
    ...external,
    description: 'Cancels an event.',
    action: 'delete',
    destructive: true,
    inputs: { id: text('id') },
    run: (world, { id }) => remove(world, 'events', 'id', id),
  },
  list_documents: {
    ...read,
    description: 'Lists the paths of the documents.',
    inputs: {},
    output: 'trusted',
    run: (world) => records(world, 'documents').map((each) => pick(each, 'path')),
  },
  read_document: {
    ...read,
    description: 'Reads a document.',
    inputs: { path: text('path') },
    output: { untrusted: ['text'] },
    run: (world, { path }) => find(world, 'documents', 'path', path),
  },
  write_document: {
    effect: 'write',
    description: 'Writes a document.',
    action: 'file-write',
    inputs: { path: text('path'), text: text('body') },
    output: 'trusted',
    run(world, input) {
      world['documents'] = records(world, 'documents').filter(({ path }) => path !== input['path']);
      return add(world, 'documents', { sharedWith: [], ...input });
    },
  },
  delete_document: {
    ...external,
    description: 'Deletes a document.',
    action: 'delete',
    destructive: true,
    inputs: { path: text('path') },
    run: (world, { path }) => remove(world, 'documents', 'path', path),
  },
  share_document: {
    ...external,
    description: 'Shares a document with a user.',
    action: 'message',
    inputs: { path: text('path'), user: text('recipient') },
    run(world, { path, user }) {
      const { sharedWith } = find(world, 'documents', 'path', path);
      const users = [...(Array.isArray(sharedWith) ? (sharedWith as Json[]) : []), user ?? ''];
      return change(world, 'documents', 'path', { path: path ?? '', sharedWith: users });
    },
  },
  open_page: {
    effect: 'write',
    description: 'Opens a page of the web.',
    action: 'visit',
    inputs: { url: text('link') },
    output: 'untrusted',
    run(world, { url }) {
      add(world, 'visits', { url: url ?? '' });
      return find(world, 'pages', 'url', url)['text'] ?? '';
    },
  },
  submit_form: {
    ...external,
    description: 'Submits a form of a page.',
    action: 'request',
    inputs: { url: text('url'), fields: text('body') },
    output: 'untrusted',
    run: (world, input) => add(world, 'forms', input),
  },
};
