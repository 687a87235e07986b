"""Telling people and programs of asks, where they are: chats, phones, mail, webhooks. One way, but for Slack's buttons."""
