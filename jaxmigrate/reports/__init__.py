"""Results of files turned into text: a patch, a summary for people, JSON for programs; nothing here decides anything."""
