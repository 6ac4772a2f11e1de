// OpenAI Chat Completions, as opencode and Copilot CLI speak it to a provider of the user's own.
import { newId, pieces, textOf } from './text.mjs';

const WHO = { user: 'user', assistant: 'model', tool: 'tool' };
const USAGE = { prompt_tokens: 900, completion_tokens: 30, total_tokens: 930 };

export const chat = {
  isAt: ({ pathname }) => pathname.endsWith('/chat/completions'),
  hear: (body) => ({
    entries: (body.messages ?? []).map(({ role, content }) => ({ who: WHO[role] ?? 'system', text: textOf(content) })),
    tools: (body.tools ?? []).map((tool) => tool.function?.name ?? tool.type),
    schema: body.response_format?.json_schema?.schema,
  }),
  isStreamed: (body) => body.stream === true,
  whole(turn, body) {
    const calls = callsOf(turn);
    const message = {
      role: 'assistant',
      content: turn.text ?? null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const choices = [{ index: 0, message, finish_reason: reason(calls) }];
    return { ...completion(body), object: 'chat.completion', choices, usage: USAGE };
  },
  *stream(turn, body) {
    const common = { ...completion(body), object: 'chat.completion.chunk' };
    const calls = callsOf(turn);
    const chunk = (delta, finish_reason = null) => line({ ...common, choices: [{ index: 0, delta, finish_reason }] });
    yield chunk({ role: 'assistant', content: '' });
    for (const piece of pieces(turn.text ?? '')) yield chunk({ content: piece });
    for (const [index, call] of calls.entries()) yield* callChunks(index, call, chunk);
    yield chunk({}, reason(calls));
    yield line({ ...common, choices: [], usage: USAGE });
    yield 'data: [DONE]\n\n';
  },
};

function completion({ model }) {
  return { id: newId('chatcmpl'), created: Math.floor(Date.now() / 1000), model };
}

function callsOf({ calls = [] }) {
  return calls.map(({ name, input = {} }) => ({
    id: newId('call'),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function* callChunks(index, call, chunk) {
  yield chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] });
  for (const piece of pieces(call.function.arguments)) {
    yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
}

function reason(calls) {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function line(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}
