// OpenAI Responses, as Codex speaks it.
import { newId, pieces, textOf } from './text.mjs';

export const responses = {
  isAt: ({ pathname }) => pathname.endsWith('/responses'),
  hear: (body) => ({
    entries: [body.input ?? []].flat().map(entryOf),
    tools: (body.tools ?? []).flatMap(toolNames),
    schema: body.text?.format?.schema,
  }),
  isStreamed: (body) => body.stream === true,
  whole: (turn, body) => ({ ...responseTo(body), status: 'completed', output: outputOf(turn), usage: USAGE }),
  *stream(turn, body) {
    const response = responseTo(body);
    const output = outputOf(turn);
    let sequence_number = 0;
    const event = (type, data) => {
      const line = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`;
      sequence_number += 1;
      return line;
    };
    yield event('response.created', { response });
    for (const [output_index, item] of output.entries()) {
      const opened = { ...item, status: 'in_progress', ...(item.type === 'message' ? { content: [] } : {}) };
      yield event('response.output_item.added', { output_index, item: opened });
      for (const [type, data] of insides(item)) yield event(type, { output_index, item_id: item.id, ...data });
      yield event('response.output_item.done', { output_index, item });
    }
    yield event('response.completed', { response: { ...response, status: 'completed', output, usage: USAGE } });
  },
};

const USAGE = {
  input_tokens: 900,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 930,
};

function entryOf(item) {
  if (typeof item === 'string') return { who: 'user', text: item };
  if (item.type?.endsWith('_call')) return { who: 'model', text: '' };
  if (item.type?.endsWith('_output')) return { who: 'tool', text: textOf(item.output) };
  const who = { user: 'user', assistant: 'model' }[item.role] ?? 'system';
  return { who, text: textOf(item.content) };
}

/** Tools of an MCP server come as a group. */
function toolNames({ type, name, tools = [] }) {
  return type === 'namespace' ? tools.map((tool) => `${name}.${tool.name}`) : [name ?? type];
}

function responseTo({ model }) {
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'in_progress',
    model,
    output: [],
    parallel_tool_calls: true,
    tools: [],
  };
}

function outputOf({ text, calls = [] }) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const said = { type: 'message', id: newId('msg'), role: 'assistant', status: 'completed', content };
  return [...(text ? [said] : []), ...calls.map(callItem)];
}

function callItem({ name, input = {}, raw, group }) {
  const common = { call_id: newId('call'), name, status: 'completed', ...(group ? { namespace: group } : {}) };
  return raw === undefined
    ? { type: 'function_call', id: newId('fc'), ...common, arguments: JSON.stringify(input) }
    : { type: 'custom_tool_call', id: newId('ctc'), ...common, input: raw };
}

/** What comes between the beginning and the end of an item. */
function* insides(item) {
  if (item.type === 'message') {
    const [part] = item.content;
    yield ['response.content_part.added', { content_index: 0, part: { ...part, text: '' } }];
    for (const delta of pieces(part.text)) yield ['response.output_text.delta', { content_index: 0, delta }];
    yield ['response.output_text.done', { content_index: 0, text: part.text }];
    yield ['response.content_part.done', { content_index: 0, part }];
  } else if (item.type === 'function_call') {
    for (const delta of pieces(item.arguments)) yield ['response.function_call_arguments.delta', { delta }];
    yield ['response.function_call_arguments.done', { arguments: item.arguments }];
  } else {
    for (const delta of pieces(item.input)) yield ['response.custom_tool_call_input.delta', { delta }];
    yield ['response.custom_tool_call_input.done', { input: item.input }];
  }
}
