/**
 * Every error that leaves Loadout is a `HostError` with a code of this closed table. Identify an error by
 * `HostError.is(error)` and `error.code`, never by its text; the marker works across two copies of the package.
 */

interface ErrorKind {
  /** HTTP status of the response. */
  status: number
  /** Whether the same request can succeed later without a change. */
  retryable: boolean
  title: string
  /** Fix for the reader. */
  action: string
}

export const ERRORS = {
  'invalid-input': kind(422, 'The input is not valid', 'Correct the named fields and send it again.'),
  'invalid-json': kind(400, 'The body is not JSON', 'Send a JSON object with content type application/json.'),
  'invalid-request': kind(400, 'The request cannot be read', 'Send the request with an HTTP client.'),
  'headers-too-large': kind(431, 'The headers are too large', 'Send a shorter URL or fewer headers.'),
  'body-too-large': kind(413, 'The body is too large', 'Send less than the limit named in the detail.'),
  'unsupported-media-type': kind(
    415,
    'The content type is not supported',
    'Send the body with content type application/json.',
  ),
  unauthenticated: kind(401, 'Sign-in is needed', 'Sign in, or send an API key as `Authorization: Bearer lo_…`.'),
  'wrong-password': kind(
    401,
    'The email or the password is not right',
    'Try again, or ask an operator for a link to choose a new password.',
  ),
  forbidden: kind(403, 'This is not allowed', 'Use a principal that has the role or scope named in the detail.'),
  'foreign-origin': kind(
    403,
    'The Host or Origin is not ours',
    'Open Loadout at the URL that it printed at its start, or set LOADOUT_PUBLIC_URL.',
  ),
  'not-found': kind(404, 'There is no such thing here', 'Check the id; list what exists first.'),
  'method-not-allowed': kind(405, 'The path has no such method', 'Use a method that the `Allow` header names.'),
  conflict: kind(409, 'This meets something that is already there', 'Choose another name, or change the existing one.'),
  'read-only': kind(409, 'This is read-only', 'Change it where it is defined: the file or the operator page.'),
  'secret-missing': kind(
    422,
    'A stored secret is not there',
    'Send the secret itself instead of its ${secret:…} placeholder.',
  ),
  'credential-unreadable': kind(
    500,
    'A stored credential does not decrypt',
    'Enter the credential again; the stored row was moved, changed or damaged.',
  ),
  'credential-key-lost': kind(
    500,
    'The key of a stored credential is lost',
    'Restore the key named in the detail to the key ring, or enter the credential again; nothing else is lost.',
  ),
  'weak-key': kind(
    500,
    'The master key is too weak',
    'Make one with `openssl rand -base64 32` and set LOADOUT_MASTER_KEY.',
  ),
  'key-file-unsafe': kind(500, 'The key file is not safe', 'Let only its owner read it: chmod 600.'),
  'storage-locked': kind(
    503,
    'Another process holds the data folder',
    'Stop that process, use its HTTP API, or choose another data folder.',
  ),
  'storage-unavailable': retryable(
    503,
    'The storage does not answer',
    'Try again; if it stays so, check the database.',
  ),
  'storage-unsafe': kind(
    500,
    'The database does not keep users apart',
    'Run the migrations as a role that may create roles and policies; see the detail for what is missing.',
  ),
  'invalid-row': kind(500, 'A row is not valid', 'Report this: a row was written that its schema refuses.'),
  'config-invalid': kind(500, 'The configuration is not valid', 'Correct the named setting and start again.'),
  'stdio-refused': kind(
    403,
    'Running commands is not allowed here',
    'Use a remote server (a URL), or ask the operator to change LOADOUT_STDIO.',
  ),
  'address-blocked': kind(
    403,
    'The address is not allowed',
    'Use a public address, or ask the operator to allow private ones (LOADOUT_PRIVATE_NETWORK).',
  ),
  'spawn-failed': kind(502, 'The command did not start', 'Check that the command exists and may be run.'),
  'server-crashed': retryable(
    502,
    'The server ended by itself',
    'Read its last words in the detail; correct its command, arguments or environment.',
  ),
  'server-unreachable': retryable(502, 'The server does not answer', 'Check the URL and that the server is up.'),
  'server-timeout': retryable(502, 'The server took too long', 'Try again, or raise the timeout of the toolkit.'),
  'protocol-error': kind(
    502,
    'The server does not speak MCP as it should',
    'Check that the URL or command is an MCP server.',
  ),
  'refused-by-server': kind(
    502,
    'The server refused the request',
    'Read the server’s reason in the detail, and change the request.',
  ),
  'malformed-list': kind(
    502,
    'What the server lists is no list',
    'Tell whoever makes the server: it speaks MCP, and its list cannot be read.',
  ),
  'response-too-large': kind(
    502,
    'The answer is too large',
    'Ask the tool for less, or raise the limit of the operator.',
  ),
  'rate-limited': retryable(429, 'The server asks to wait', 'Try again after the time in the detail.'),
  'session-lost': retryable(502, 'The session with the server ended', 'Try again: the next call opens a new one.'),
  'sign-in-needed': kind(409, 'The server wants you to sign in', 'Sign in to the server, then try again.'),
  'credentials-refused': kind(
    502,
    'The server refuses the credentials of the toolkit',
    'Replace the token of the toolkit.',
  ),
  'sign-in-failed': kind(502, 'The sign-in did not work', 'Start the sign-in again.'),
  'sign-in-link-invalid': kind(
    400,
    'The sign-in link is not good, or not any more',
    'Start the sign-in again: a link is good once, for ten minutes, and for who asked for it.',
  ),
  'cooling-down': retryable(
    502,
    'The server failed too often',
    'Wait for the time in the detail, or correct the toolkit and reconnect.',
  ),
  'too-many-connections': retryable(
    503,
    'Too many connections are open',
    'Wait for calls to finish, or ask the operator for a higher limit.',
  ),
  cancelled: kind(499, 'The call was cancelled', 'Nothing: it was cancelled on request.'),
  'tool-not-found': kind(404, 'There is no such tool', 'List the tools of the toolkit, or refresh them.'),
  'not-carried': kind(
    403,
    'The tool is not in the loadout of this scope',
    'Activate the toolkit or tool where the detail says it is off.',
  ),
  denied: kind(403, 'The call is denied', 'Ask for permission where the detail says who denied it, or do without.'),
  'approval-expired': kind(403, 'Nobody answered in time', 'Make the call again, and answer it in time.'),
  'approval-pending': kind(409, 'A person must answer first', 'Answer the approval; the run goes on by itself.'),
  'run-drift': kind(
    409,
    'The run does what its log does not have',
    'Start it anew: what it is made of changed since it paused.',
  ),
  'run-lost': retryable(503, 'The run is worked on elsewhere', 'Nothing: another process has taken it over.'),
  'program-failed': kind(422, 'The program failed', 'Correct it where the detail says, and run it again.'),
  'workflow-failed': kind(
    422,
    'A node of the workflow failed',
    'Look at the node that the detail names; mend it, and run again from there.',
  ),
  'preflight-failed': kind(
    422,
    'The workflow cannot run as things are',
    'Mend what `errors` names, and run it again: nothing was called.',
  ),
  'limit-reached': retryable(429, 'A limit is reached', 'Wait until it resets, or ask for a higher one.'),
  'outcome-unknown': kind(
    500,
    'What came of the call is not known',
    'Look on the server whether it happened before you make it again.',
  ),
  'call-not-made': retryable(503, 'The call was never made', 'Make it again: nothing reached the server.'),
  'audit-unavailable': retryable(
    503,
    'What would happen cannot be recorded',
    'Try again; if it stays so, check the disk of the data folder and the database.',
  ),
  'function-missing': kind(
    502,
    'The function of the tool is not in this process',
    'Register the tool with its function when the host is made, in every process.',
  ),
  'model-unavailable': kind(409, 'No model can be asked', 'Do what the detail says is missing.'),
  'model-failed': retryable(502, 'The model did not answer', 'Try again; check the model and its key if it stays so.'),
  'tool-changed': kind(409, 'The tool changed since it was accepted', 'Review the change and accept it.'),
  'tool-not-accepted': kind(
    409,
    'Nobody accepted the tool yet',
    'Look at the tool and accept it (POST /api/mcp/:id/accept), or trust its server.',
  ),
  'invalid-schema': kind(422, 'The JSON Schema cannot be used', 'Correct the schema at the place named in `errors`.'),
  'shutting-down': retryable(503, 'The host is shutting down', 'Try again in a moment.'),
  internal: retryable(500, 'Something went wrong inside', 'Try again; report the request id if it stays so.'),
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS

/** A path in an input and what is wrong with it. */
export interface FieldError {
  path: string
  message: string
}

export interface HostErrorOptions {
  /** Error message. Never contains a secret. */
  detail?: string
  /** Overrides the action of the table. */
  action?: string
  errors?: FieldError[]
  /**
   * Overrides the status of the table: a server's refusal can mean that something does not exist, or that the input is
   * invalid.
   */
  status?: 404 | 422 | undefined
  /** Time after which a retry may succeed. */
  retryAfterMs?: number
  /** Last output of a process, with line breaks. Never contains a secret. */
  output?: string
  cause?: unknown
}

const MARKER = Symbol.for('loadout.host-error')

export class HostError extends Error {
  readonly [MARKER] = true
  readonly code: ErrorCode
  readonly status: number
  readonly retryable: boolean
  readonly title: string
  readonly action: string
  readonly errors: FieldError[] | undefined
  readonly retryAfterMs: number | undefined
  readonly output: string | undefined

  constructor(code: ErrorCode, options: HostErrorOptions = {}) {
    const entry = ERRORS[code]
    super(options.detail ?? entry.title, { cause: options.cause })
    this.name = 'HostError'
    this.code = code
    this.status = options.status ?? entry.status
    this.retryable = entry.retryable
    this.title = entry.title
    this.action = options.action ?? entry.action
    this.errors = options.errors
    this.retryAfterMs = options.retryAfterMs
    this.output = options.output
  }

  /**
   * A copy with some options replaced. The cause is copied only when `changes` contains it, because it may quote a
   * secret.
   */
  with(changes: HostErrorOptions): HostError {
    const { code, message: detail, action, errors, retryAfterMs, output } = this
    const status = this.status === ERRORS[code].status ? {} : { status: this.status as 404 | 422 }
    return new HostError(code, {
      detail,
      action,
      ...status,
      ...(errors ? { errors } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(output === undefined ? {} : { output }),
      ...changes,
    })
  }

  /** `JSON.stringify` keeps the message. The cause and the output of a process may quote a secret, and stay out. */
  toJSON(): Record<string, unknown> {
    const { code, message, action, status, retryable: mayRetry, errors, retryAfterMs } = this
    return {
      code,
      message,
      action,
      status,
      retryable: mayRetry,
      ...(errors ? { errors } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }
  }

  /** Message and action as one line for a terminal. */
  get line(): string {
    return `${this.message.replace(/[.\s]+$/, '')}. ${this.action}`
  }

  static is(value: unknown): value is HostError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[MARKER] === true
  }

  /** Converts any thrown value: unknown errors become `internal` and keep their cause for the log. */
  static from(thrown: unknown): HostError {
    return HostError.is(thrown) ? thrown : new HostError('internal', { cause: thrown })
  }
}

function kind(status: number, title: string, action: string): ErrorKind {
  return { status, retryable: false, title, action }
}

function retryable(status: number, title: string, action: string): ErrorKind {
  return { status, retryable: true, title, action }
}
