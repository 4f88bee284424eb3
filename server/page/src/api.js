// The API of the server that the page came from.

// ApiError is an answer that is no answer: a problem document (RFC 9457), or no
// connection at all.
export class ApiError extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail || problem.title || `The server answered with status ${status}.`);
    this.status = status;
    this.retryAfter = retryAfter;
    // Each has a location, such as rows[3].age, and a message.
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
  }
}

const tokenKey = "lossep-token";
let refused = () => {};

// onRefused is told when the server wants a token.
export function onRefused(listener) {
  refused = listener;
}

export function setToken(token) {
  sessionStorage.setItem(tokenKey, token);
}

// pathOf is where a model is.
export const pathOf = ({name}) => `v1/models/${encodeURIComponent(name)}`;

export const get = (path, signal) => call(path, {signal});

// post sends a body, an object or JSON text.
export const post = (path, body, signal) =>
  call(path, {
    method: "POST",
    headers: {"Content-Type": "application/json", "X-Lossep-Trial": "1"}, // nobody acts on what the page shows
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal,
  });

async function call(path, options) {
  const token = sessionStorage.getItem(tokenKey);
  const headers = {Accept: "application/json", ...options.headers, ...(token && {Authorization: `Bearer ${token}`})};
  let response;
  try {
    response = await fetch(path, {...options, headers});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {detail: "The server cannot be reached. What you see is its last answer."});
  }
  const body = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (response.ok) return body;
  if (response.status === 401) refused(Boolean(token));
  throw new ApiError(response.status, body, Number(response.headers.get("Retry-After")) || undefined);
}
