// Posts the report as one comment on a pull request, and updates that comment the next time. Whatever goes wrong here is
// a warning: the verdict does not depend on it.
import { readFileSync } from 'node:fs';

const { GITHUB_API_URL, GITHUB_REPOSITORY, NUMBER, REPORT, TOKEN } = process.env;
const MARKER = '<!-- git-handoff gate -->';
const PAGE = 100;
const TIMEOUT_MS = 30_000;
const comments = `/repos/${GITHUB_REPOSITORY}/issues/${NUMBER}/comments`;

class Refused extends Error {
  constructor(status) {
    super(`the API answered ${status}`);
    this.status = status;
  }
}

async function ask(method, path, body) {
  const response = await fetch(GITHUB_API_URL + path, {
    method,
    headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${TOKEN}`, 'user-agent': 'git-handoff' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Refused(response.status);
  return response.json();
}

/** Anybody can write a comment that begins like ours, and could edit it again after we had written ours into it. */
async function isMine() {
  try {
    const { login } = await ask('GET', '/user');
    return ({ user }) => user?.login === login;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return ({ user }) => user?.type === 'Bot'; // the token of a workflow or an app, which may not ask who it is
  }
}

async function findComment() {
  const mine = await isMine();
  for (let page = 1; ; page++) {
    const found = await ask('GET', `${comments}?per_page=${PAGE}&page=${page}`);
    const comment = found.find((each) => each.body?.startsWith(MARKER) && mine(each));
    if (comment || found.length < PAGE) return comment;
  }
}

async function post() {
  const body = readFileSync(REPORT, 'utf8');
  const comment = await findComment();
  if (comment) await ask('PATCH', `/repos/${GITHUB_REPOSITORY}/issues/comments/${comment.id}`, { body });
  else await ask('POST', comments, { body });
  return comment ? 'The comment was updated.' : 'The comment was posted.';
}

function explain(error) {
  if (error instanceof Refused && [401, 403, 404].includes(error.status))
    return 'the token may not write comments; that of a pull request from a fork never may';
  return error instanceof Refused ? error.message : 'the API could not be reached';
}

console.log(
  await post().catch(
    (error) => `::warning title=git-handoff::No comment: ${explain(error)}. The report is in the summary of this job.`,
  ),
);
