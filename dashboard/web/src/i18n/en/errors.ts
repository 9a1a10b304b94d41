// What each kind of error means and what to do; the server's own sentence follows it on the page.

import type { ErrorReason } from "../../api/problem";

export const errors = {
  title: {
    Unauthenticated: "You are not logged in",
    Forbidden: "You may not do this",
    ReadOnly: "This dashboard is read-only",
    BadRequest: "The server did not understand the request",
    NotFound: "It does not exist",
    Conflict: "It has changed meanwhile, or exists already",
    Invalid: "The cluster refused the object",
    TooLarge: "That is too large",
    TooManyRequests: "Too many requests",
    Unavailable: "The cluster does not answer",
    Internal: "Something went wrong",
    Network: "The dashboard does not answer",
    BadAnswer: "The answer is not from this dashboard",
  } satisfies Record<ErrorReason, string>,
  advice: {
    Unauthenticated: "Log in again.",
    Forbidden: "Ask the cluster's administrator for the right that is named below.",
    ReadOnly: "Use kubectl, or a dashboard that was started without --read-only.",
    BadRequest: "Reload the page: it may be older than the server.",
    NotFound: "It may have been deleted, or you may not see it.",
    Conflict: "Look at its present state, then try again.",
    Invalid: "Correct the fields that are named below.",
    TooLarge: "Make it smaller.",
    TooManyRequests: "Wait a moment, then try again.",
    Unavailable: "Wait a moment, then try again.",
    Internal: "Try again; the dashboard's log says more.",
    Network: "Check that it runs and that this machine reaches it, then try again.",
    BadAnswer: "A proxy between may have answered: log in there, or ask who runs it.",
  } satisfies Record<ErrorReason, string>,
  said: "The server says:",
};
