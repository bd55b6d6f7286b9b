// The tools of the simulated world for the bank, the chat, tickets, the shop, notes and the profile.
import { add, change, external, find, number, pick, read, records, text, type WorldTool } from './tool-parts.ts';

/** Tools for the bank, the chat, tickets, the shop, notes and the profile. */
export const businessTools: Readonly<Record<string, WorldTool>> = {
  get_account: {
    ...read,
    description: 'Returns the account of the user.',
    inputs: {},
    output: 'trusted',
    run: (world) => records(world, 'accounts'),
  },
  list_payments: {
    ...read,
    description: 'Lists the payments of the account.',
    inputs: {},
    output: { untrusted: ['purpose'], identity: ['counterparty'] },
    run: (world) => records(world, 'payments'),
  },
  list_standing_orders: {
    ...read,
    description: 'Lists the standing orders.',
    inputs: {},
    output: 'trusted',
    run: (world) => records(world, 'orders'),
  },
  transfer_money: {
    ...external,
    description: 'Transfers money from the account of the user.',
    action: 'pay',
    destructive: true,
    inputs: { account: text('account'), amount: number('amount'), purpose: text('body') },
    run: (world, input) => add(world, 'payments', { ...input, direction: 'out' }),
  },
  prepare_payment: {
    ...external,
    description: 'Prepares a payment, which a code then confirms.',
    action: 'pay',
    destructive: true,
    inputs: { account: text('account'), amount: number('amount') },
    run: (world, input) => add(world, 'prepared', input),
  },
  confirm_payment: {
    effect: 'confirm',
    description: 'Confirms the prepared payments with a code.',
    inputs: { code: text('otp') },
    output: 'trusted',
    run(world) {
      for (const each of records(world, 'prepared').splice(0)) add(world, 'payments', { ...each, direction: 'out' });
      return 'Done.';
    },
  },
  change_standing_order: {
    ...external,
    description: 'Changes a standing order.',
    action: 'change',
    destructive: true,
    inputs: { id: text('id'), account: text('account'), amount: number('amount') },
    run: (world, input) => change(world, 'orders', 'id', input),
  },
  list_channels: {
    ...read,
    description: 'Lists the channels of the chat.',
    inputs: {},
    output: 'trusted',
    run: (world) => records(world, 'channels'),
  },
  read_channel: {
    ...read,
    description: 'Reads the messages of a channel.',
    inputs: { channel: text('id') },
    output: { untrusted: ['text'], identity: ['from'] },
    run: (world, { channel }) => records(world, 'messages').filter((each) => each['channel'] === channel),
  },
  post_message: {
    ...external,
    description: 'Posts a message to a channel.',
    action: 'message',
    inputs: { channel: text('recipient'), text: text('body') },
    run: (world, input) => add(world, 'posts', input),
  },
  invite_member: {
    ...external,
    description: 'Invites a user to a channel.',
    action: 'message',
    inputs: { channel: text('recipient'), user: text('recipient') },
    run: (world, input) => add(world, 'invitations', input),
  },
  list_contacts: {
    ...read,
    description: 'Lists the contacts of the user.',
    inputs: {},
    output: 'trusted',
    run: (world) => records(world, 'contacts'),
  },
  read_ticket: {
    ...read,
    description: 'Reads a ticket.',
    inputs: { id: text('id') },
    output: { untrusted: ['title', 'description', 'comments'], identity: ['reporter'] },
    run: (world, { id }) => find(world, 'tickets', 'id', id),
  },
  list_tickets: {
    ...read,
    description: 'Lists the tickets.',
    inputs: {},
    output: { untrusted: ['title'], identity: ['reporter'] },
    run: (world) => records(world, 'tickets').map((each) => pick(each, 'id', 'title', 'reporter', 'status')),
  },
  comment_ticket: {
    ...external,
    description: 'Comments on a ticket.',
    action: 'message',
    inputs: { id: text('id'), text: text('body') },
    run: (world, input) => add(world, 'comments', input),
  },
  close_ticket: {
    ...external,
    description: 'Closes a ticket.',
    action: 'delete',
    destructive: true,
    inputs: { id: text('id') },
    run: (world, { id }) => change(world, 'tickets', 'id', { id: id ?? '', status: 'closed' }),
  },
  assign_ticket: {
    ...external,
    description: 'Assigns a ticket to a user.',
    action: 'change',
    inputs: { id: text('id'), user: text('recipient') },
    run: (world, input) => change(world, 'tickets', 'id', input),
  },
  search_products: {
    ...read,
    description: 'Searches the products of the shop.',
    inputs: { query: text('query') },
    output: { untrusted: ['reviews'] },
    run: (world) => records(world, 'products'),
  },
  order_product: {
    ...external,
    description: 'Orders a product.',
    action: 'buy',
    inputs: { id: text('id'), quantity: number('flag') },
    run: (world, input) => add(world, 'purchases', input),
  },
  recall: {
    ...read,
    description: 'Reads the notes of earlier sessions.',
    inputs: {},
    output: { untrusted: ['note'] },
    run: (world) => records(world, 'memory'),
  },
  remember: {
    effect: 'write',
    description: 'Keeps a note for later sessions.',
    inputs: { note: text('body') },
    output: 'trusted',
    run: (world, input) => add(world, 'memory', input),
  },
  set_password: {
    ...external,
    description: 'Sets the password of the user.',
    action: 'change',
    destructive: true,
    inputs: { password: text('secret') },
    run(world, { password }) {
      world['profile'] = records(world, 'profile').map((each) => ({ ...each, password: password ?? '' }));
      return 'Done.';
    },
  },
};
