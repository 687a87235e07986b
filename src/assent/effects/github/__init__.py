"""GitHub, asked through a small port with two ways behind it.

channel   the port, how answers are read, and what a refusal says
rest      through the REST API, with a token
gh        through GitHub's own command
find      which of the two there is here
diff      which lines of a change can take a comment
review    posting a review, once
"""
