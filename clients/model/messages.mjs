// Anthropic Messages, as Claude Code speaks it.
import { newId, pieces, textOf } from './text.mjs';

export const messages = {
  isAt: ({ pathname }) => pathname.endsWith('/messages'),
  hear: (body) => ({
    entries: (body.messages ?? []).flatMap(entriesOf),
    tools: (body.tools ?? []).map(({ name }) => name),
    schema: body.output_config?.format?.schema ?? body.output_format?.schema,
  }),
  isStreamed: (body) => body.stream === true,
  whole: (turn, body) => ({ ...message(body), content: contentOf(turn), stop_reason: reason(turn), usage: USAGE }),
  *stream(turn, body) {
    yield event('message_start', { message: { ...message(body), content: [], stop_reason: null, usage: USAGE } });
    for (const [index, block] of contentOf(turn).entries()) yield* blockEvents(index, block);
    yield event('message_delta', { delta: { stop_reason: reason(turn), stop_sequence: null }, usage: USAGE });
    yield event('message_stop', {});
  },
};

const USAGE = {
  input_tokens: 900,
  output_tokens: 30,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  service_tier: 'standard',
};

function entriesOf({ role, content }) {
  if (role !== 'user') return [{ who: role === 'assistant' ? 'model' : 'system', text: textOf(content) }];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return parts.map((part) =>
    part.type === 'tool_result' ? { who: 'tool', text: textOf(part.content) } : { who: 'user', text: part.text ?? '' },
  );
}

function message({ model }) {
  return { id: newId('msg'), type: 'message', role: 'assistant', model, stop_sequence: null };
}

function reason({ calls = [] }) {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function contentOf({ text, calls = [] }) {
  const used = calls.map(({ name, input = {} }) => ({ type: 'tool_use', id: newId('toolu'), name, input }));
  return text ? [{ type: 'text', text }, ...used] : used;
}

function* blockEvents(index, block) {
  const isText = block.type === 'text';
  const content_block = isText ? { type: 'text', text: '' } : { ...block, input: {} };
  yield event('content_block_start', { index, content_block });
  for (const piece of pieces(isText ? block.text : JSON.stringify(block.input))) {
    const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
    yield event('content_block_delta', { index, delta });
  }
  yield event('content_block_stop', { index });
}

function event(type, data) {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
