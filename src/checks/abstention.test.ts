import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from './abstention.ts';

test('a text of which each sentence abstains, apologizes or asks for more is a refusal', () => {
  for (const text of [
    '',
    ' \n\t ',
    '...',
    "I'm sorry, I cannot answer this question without more information.",
    'I do not know.',
    'As an AI language model, I do not have access to current events. Please provide more context.',
    'Sorry. There is no information about it. Please clarify the question.',
  ])
    assert.equal(isRefusal(text), true, text);
});

test('a text with one sentence that answers is no refusal', () => {
  for (const text of [
    'Paris.',
    'No.',
    '42',
    'Париж',
    'パリ',
    'As an AI language model, I have no faith. The law became binding in 1921.',
    'I am sorry for the delay. The capital is Canberra.',
  ])
    assert.equal(isRefusal(text), false, text);
});

test('a refusal is recognized in linear time', () => {
  for (const part of ['I ', 'sorry ', 'i do not ', '. A', 'no specific ', 'as an a', '."\')] '])
    assert.equal(typeof isRefusal(part.repeat(100_000 / part.length)), 'boolean');
});
