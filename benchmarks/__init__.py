"""What is measured: each figure beside a limit or a peer that ran in the same minute."""
