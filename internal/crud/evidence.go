package crud

// WeakEvidence is a paragraph in the description of each object whose operations the contract marks with x-beyond.
const WeakEvidence = "\n\n~> **Undocumented operations.** The service's API documents do not describe the operations used here, so the service may behave differently."
